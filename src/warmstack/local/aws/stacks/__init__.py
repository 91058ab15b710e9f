"""Stacks: what a template asks for, in which order it is made, and what happens when that fails."""

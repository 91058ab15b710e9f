"""`warmstack verify`: what a deploy has made, looked at from outside."""

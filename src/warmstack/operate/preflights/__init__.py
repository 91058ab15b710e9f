"""`warmstack preflight`: what a deploy will need, looked for before it."""

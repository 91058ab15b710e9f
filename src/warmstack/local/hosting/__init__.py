"""Changes of what is hosted: models, configurations, endpoints and components made, changed and removed."""

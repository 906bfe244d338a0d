"""What `manage.py bench` runs: measurements over the product's public door, on loopback only."""

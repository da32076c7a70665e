"""Attacks on the product: each test is one attack, and it passes if the attack is held."""

"""Rules, the alerts that they raise, and the notifications of them."""

"""Documents and web pages as text, read in processes of their own under limits of time and memory."""

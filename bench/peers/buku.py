"""Saves the URLs of a file with the library of buku, searches and lists them, and prints the times as JSON.

usage: buku.py PROGRAM URLS WORDS, in an empty folder
"""

import json
import sys
import time
from importlib.machinery import SourceFileLoader

program, urls, words = sys.argv[1:]
buku = SourceFileLoader("buku", program).load_module()
db = buku.BukuDb(dbfile="bookmarks.db")


def milliseconds(work):
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def save():
    """Adds the URLs, then fetches their titles and descriptions with eight threads."""
    for url in open(urls).read().split():
        db.add_rec(url, delay_commit=True, fetch=False)
    db.refreshdb(0, 8)


saved = milliseconds(save)
without = db.conn.execute("SELECT count(*) FROM bookmarks WHERE metadata = ''").fetchone()[0]
if without:
    sys.exit(f"{without} bookmarks have no title")
result = {
    "save": saved,
    "cpu": time.process_time() * 1000,
    "search": [milliseconds(lambda: db.searchdb([word])) for word in open(words).read().split()],
    "list": [milliseconds(db.get_rec_all) for _ in range(200)],
}
json.dump(result, open("result.json", "w"))

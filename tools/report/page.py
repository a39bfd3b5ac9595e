# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""The page of a report: the pieces of page/, and the report in it. It loads nothing; what it shows it draws from the
report when it is opened.
"""

import json
import os

PIECES = ('head.html', 'draw.js', 'chapters.js', 'tables.js', 'end.html')
PLACE = '@REPORT@'


def page(report):
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'page')
    pieces = []
    for name in PIECES:
        with open(os.path.join(folder, name), encoding='utf-8') as f:
            pieces.append(f.read())
    # "</script>" in a text would end the script, so no slash is left bare.
    data = json.dumps(report, separators=(',', ':')).replace('/', '\\/')
    return ''.join(pieces).replace(PLACE, data)

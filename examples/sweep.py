#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Sweep one line of a scenario and draw what it does to online latency and offline goodput.

usage: sweep.py [-o FILE.svg] [--scenario NAME] [--length T] [LINE VALUE...]

    sweep.py -o sweep.svg policy.look_max 20us 50us 100us 200us

LINE is a line of the scenario, section.key. The figures are of the model, in virtual time: no GPU is
needed. The picture is plain SVG that follows the reader's light or dark theme.
"""

import argparse
import os
import sys
from xml.sax.saxutils import escape

try:
    import gpreempt
except ImportError:             # not installed: the one of the source tree
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'python'))
    import gpreempt

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 320, 70, 70, 40, 60

STYLE = '''<style>
 text { font: 13px sans-serif; fill: #222 } .axis { stroke: #888 } .grid { stroke: #8883 }
 .latency { stroke: #0a6ebd; fill: none; stroke-width: 2 } .goodput { stroke: #b5600c; fill: none;
 stroke-width: 2; stroke-dasharray: 5 3 } .l { fill: #0a6ebd } .g { fill: #b5600c }
 @media (prefers-color-scheme: dark) { text { fill: #ddd } .latency { stroke: #6cb8f5 }
 .goodput { stroke: #f0a35c } .l { fill: #6cb8f5 } .g { fill: #f0a35c } }
</style>'''


def measure(scenario, length, line, values):
    """(value, mean added latency in us, goodput) of each run. A figure is None if the run served
    no request or not all of them."""
    points = []
    for number, value in enumerate(values, 1):
        print(f'sweep: {line} = {value} ({number} of {len(values)})', file=sys.stderr)
        result = gpreempt.simulate(scenario, length=length, **{line: value})
        added = result['added'] and result['added']['mean'] / 1e3
        points.append((value, added, result['offline_goodput']))
    return points


def x_of(index, count):
    return LEFT + (WIDTH - LEFT - RIGHT) * (index + 0.5) / count


def y_of(value, top):
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value / top if top else 0)


def curve(name, letter, values, top):
    spots = [(x_of(i, len(values)), y_of(v, top)) for i, v in enumerate(values) if v is not None]
    line = ' '.join(f'{x:.1f},{y:.1f}' for x, y in spots)
    dots = ''.join(f'<circle class="{letter}" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>' for x, y in spots)
    return f'<polyline class="{name}" points="{line}"/>{dots}'


def round_up(value):
    """Round up to a number that four grid lines divide evenly."""
    step = 1e-3
    while step * 10 < value:
        step *= 10
    return next(step * n for n in (1, 2, 4, 6, 8, 10) if step * n >= value)


def draw(title, line, points):
    """One picture with two axes: latency at the left, goodput at the right."""
    latency = [added for _, added, _ in points]
    top = round_up(max([added for added in latency if added is not None] + [1e-3]))
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
           f'<title>{escape(title)}</title>', STYLE,
           f'<text x="{LEFT}" y="20">{escape(title)}</text>']
    for quarter in range(5):
        y = y_of(quarter, 4)
        out += [f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>',
                f'<text class="l" x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">'
                f'{top * quarter / 4:.6g}</text>',
                f'<text class="g" x="{WIDTH - RIGHT + 8}" y="{y + 4:.1f}">{25 * quarter} %</text>']
    for i, (value, _, _) in enumerate(points):
        out.append(f'<text x="{x_of(i, len(points)):.1f}" y="{HEIGHT - BOTTOM + 18}" '
                   f'text-anchor="middle">{escape(str(value))}</text>')
    out += [curve('latency', 'l', latency, top), curve('goodput', 'g', [g for *_, g in points], 1),
            f'<text x="{WIDTH / 2}" y="{HEIGHT - 22}" text-anchor="middle">{escape(line)}</text>',
            f'<text class="l" x="{LEFT}" y="{HEIGHT - 6}">added latency per online request, us</text>',
            f'<text class="g" x="{WIDTH - RIGHT}" y="{HEIGHT - 6}" text-anchor="end">'
            'offline goodput</text>', '</svg>']
    return '\n'.join(out) + '\n'


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('-o', '--output', default='sweep.svg')
    parser.add_argument('--scenario', default='colocate')
    parser.add_argument('--length', default='2s')
    parser.add_argument('line', nargs='?', default='policy.look_max')
    parser.add_argument('values', nargs='*', default=['20us', '50us', '100us', '200us'])
    args = parser.parse_args()
    try:
        points = measure(args.scenario, args.length, args.line, args.values)
    except gpreempt.ScenarioError as error:
        print(f'sweep: {error}', file=sys.stderr)
        return 2
    print(f'{args.line:>16}  {"added, mean":>12}  goodput')
    for value, added, goodput in points:
        print(f'{value:>16}', f'{added:10.1f} us' if added is not None else f'{"-":>13}',
              f'{100 * goodput:7.1f} %' if goodput is not None else '       -')
    print('figures of a model, not of hardware')
    with open(args.output, 'w', encoding='utf-8') as f:
        f.write(draw(f'{args.scenario}, {args.length} of virtual time, a model', args.line, points))
    return 0


if __name__ == '__main__':
    sys.exit(main())

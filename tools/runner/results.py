# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""What tests have shown: their claims, and files and tables of them."""

import collections
import contextlib
import dataclasses
import itertools
import json
import os
import re
import shlex
import signal
import sys

SCHEMA = 1
JSON, JUNIT, TIMES = 'test-results.json', 'test-results.xml', 'test-times.json'
# Runs whose times are kept for the next estimate.
KEPT = 3
SLOWEST = 10

# cmocka marks a skipped test "not ok N # SKIP name", TAP "ok N - name # SKIP why".
CLAIM = re.compile(r'^(not )?ok\b\s*\d*\s*-?\s*(.*)$')
PLAN = re.compile(r'^1\.\.(\d+)')
SKIP = re.compile(r'#\s*skip\b\s*', re.I)
# Characters that XML does not allow, escaped or not.
NOT_XML = re.compile('[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]')

PASSED, FAILED, SKIPPED = 'passed', 'failed', 'skipped'
WORDS = {PASSED: ('32', 'ok  '), FAILED: ('1;31', 'FAIL'), SKIPPED: ('33', 'skip')}


def coloured(result):
    colour, word = WORDS[result]
    on = sys.stdout.isatty() and not os.environ.get('NO_COLOR')
    return f'\033[{colour}m{word}\033[0m' if on else word


@dataclasses.dataclass
class Result:
    """What one run of a test has shown: @claims are pairs of a result and a sentence."""

    title: str
    suite: str
    seed: int
    repetition: int
    claims: list
    status: int = 0
    seconds: float = 0
    processor: float = 0
    output: str = ''
    repeat: str = ''            # the command that runs it again

    def failed(self):
        return any(result == FAILED for result, _ in self.claims)


def as_sentence(name):
    """Turn the name of a test function into the sentence that it stands for."""
    return name if ' ' in name else name.replace('_', ' ')


def claims_of(title, output, status):
    """What a test that printed @output and exited with @status has shown."""
    claims, plan = [], None
    for line in output.splitlines():
        if match := PLAN.match(line):
            plan = int(match[1])
        elif match := CLAIM.match(line):
            result = SKIPPED if SKIP.search(match[2]) else FAILED if match[1] else PASSED
            claims.append((result, as_sentence(SKIP.sub('', match[2]).strip())))
    if not claims and status == 77:
        return [(SKIPPED, title)]
    if not claims and plan is None:
        return [(PASSED if status == 0 else FAILED, title)]
    if plan is not None and plan != len(claims):
        claims.append((FAILED, f'{title} made {len(claims)} of {plan} claims'))
    # A sanitizer's report, or a crash, after the last claim.
    if status != 0 and not any(result == FAILED for result, _ in claims):
        claims.append((FAILED, f'{title} ended with status {status}'))
    return claims


def status_text(status):
    """An exit status in words; one over 128 is a signal's, as a shell reports it."""
    try:
        return f'status {status} ({signal.Signals(status - 128).name})'
    except ValueError:
        return f'status {status}'


def is_remark(line):
    return line.startswith('# ')


def remarks(output):
    """The remarks beside each claim that failed, in the order of the claims."""
    lines = output.splitlines()
    for i, line in enumerate(lines):
        if line.startswith('not ok') and not SKIP.search(line):
            before = itertools.takewhile(is_remark, reversed(lines[:i]))
            after = itertools.takewhile(is_remark, lines[i + 1:])
            yield [*reversed([*before]), *after]


def print_test(result, command, sanitized):
    """Print the claims of a test that ended. A @sanitized test that passed gets one line."""
    again = f', repetition {result.repetition}' if result.repetition else ''
    print(f'\n{result.title} ({result.seconds:.1f} s{again})')
    if sanitized and not result.failed():
        print(f'  {coloured(PASSED)} the same {len(result.claims)} claims')
    else:
        why = remarks(result.output)
        for word, text in result.claims:
            print(f'  {coloured(word)} {text}')
            for line in next(why, []) if word == FAILED else []:
                print(f'       {line}')
        for line in result.output.splitlines():
            if line.startswith('#|'):
                print(f'       {line[3:]}')
    if result.failed():
        print(f'  output of {shlex.join(command)}, which ended with {status_text(result.status)}')
        print('\n'.join('    ' + line for line in result.output.splitlines()))
        print(f'  repeat: {result.repeat}')
    sys.stdout.flush()


# ---- files in the build directory ----

def write(path, text):
    """Readers see the old file or the new one, also while two runs write it."""
    new = f'{path}.{os.getpid()}.new'
    try:
        with open(new, 'w', encoding='utf-8', errors='replace') as f:
            f.write(text)
        os.replace(new, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.remove(new)
        raise


def read_json(path):
    """The object in the file, or {} if there is none that this version wrote."""
    try:
        with open(path, encoding='utf-8') as f:
            found = json.load(f)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) and found.get('schema') == SCHEMA else {}


def as_json(head, results):
    """@head: members that describe the whole run."""
    count = collections.Counter(word for r in results for word, _ in r.claims)
    tests = [{'name': r.title, 'suite': r.suite, 'seed': r.seed, 'repetition': r.repetition or 1,
              'result': FAILED if r.failed() else PASSED, 'status': r.status,
              'seconds': round(r.seconds, 3), 'processor_seconds': round(r.processor, 3),
              'claims': [{'text': text, 'result': word} for word, text in r.claims]}
             for r in results]
    return json.dumps({'schema': SCHEMA, **head,
                       **{word: count[word] for word in (PASSED, FAILED, SKIPPED)},
                       'processor_seconds': round(sum(r.processor for r in results), 3),
                       'tests': tests}, indent=1) + '\n'


def as_junit(head, results):
    """A testsuite per test, a testcase per claim: that is what viewers of JUnit's XML count."""
    from xml.etree import ElementTree

    def clean(text):
        return NOT_XML.sub('?', text)

    root = ElementTree.Element('testsuites', name='gpreempt', time=f"{head['seconds']:.3f}")
    for r in results:
        count = collections.Counter(word for word, _ in r.claims)
        suite = ElementTree.SubElement(
            root, 'testsuite', name=clean(r.title), tests=str(len(r.claims)),
            failures=str(count[FAILED]), errors='0', skipped=str(count[SKIPPED]),
            time=f'{r.seconds:.3f}')
        properties = ElementTree.SubElement(suite, 'properties')
        for name, value in (('suite', r.suite), ('seed', r.seed), ('repeat', r.repeat),
                            ('processor_seconds', f'{r.processor:.3f}')):
            ElementTree.SubElement(properties, 'property', name=name, value=clean(str(value)))
        for word, text in r.claims:
            case = ElementTree.SubElement(suite, 'testcase', name=clean(text),
                                          classname=clean(f'{r.suite}.{r.title}'), time='0')
            if word == FAILED:
                ElementTree.SubElement(case, 'failure', message=clean(text))
            elif word == SKIPPED:
                ElementTree.SubElement(case, 'skipped')
        if r.failed():
            ElementTree.SubElement(suite, 'system-out').text = clean(r.output)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding='unicode', xml_declaration=True) + '\n'


class Times:
    """How long each test took in its last runs, by its key."""

    def __init__(self, build):
        self.path = os.path.join(build, TIMES)
        self.seconds = read_json(self.path).get('seconds', {})

    def estimate(self, key):
        last = self.seconds.get(key)
        return sum(last) / len(last) if last else None

    def add(self, key, seconds):
        self.seconds[key] = [*self.seconds.get(key, []), round(seconds, 2)][-KEPT:]

    def save(self):
        write(self.path, json.dumps({'schema': SCHEMA, 'seconds': self.seconds}, indent=1) + '\n')


# ---- tables and lists at the end ----

def print_table(results, seconds):
    """Print on stderr the time that each suite took, and the slowest tests."""
    total = sum(r.processor for r in results)
    suites = collections.defaultdict(list)
    for r in results:
        suites[r.suite].append(r)
    print(f"\n{'suite':<20}{'tests':>6}{'seconds':>10}{'processor':>11}{'share':>8}", file=sys.stderr)
    for name, ones in suites.items():
        used = sum(r.processor for r in ones)
        print(f'{name:<20}{len(ones):>6}{sum(r.seconds for r in ones):>8.0f} s{used:>9.0f} s'
              f'{100 * used / total if total else 0:>6.0f} %', file=sys.stderr)
    print(f"{'the run':<20}{len(results):>6}{seconds:>8.0f} s{total:>9.0f} s", file=sys.stderr)
    if len(results) > SLOWEST:
        print(f"\n{'the slowest':<36}{'seconds':>8}{'processor':>11}", file=sys.stderr)
        for r in sorted(results, key=lambda r: -r.seconds)[:SLOWEST]:
            print(f'{r.title:<36}{r.seconds:>6.0f} s{r.processor:>9.0f} s', file=sys.stderr)


def differences(results):
    """A sentence for each test whose claims differ between its repetitions."""
    by_title = collections.defaultdict(list)
    for r in results:
        by_title[r.title].append(collections.Counter(r.claims))
    for title, counts in by_title.items():
        odd = [difference(claim, [count[claim] for count in counts])
               for claim in dict.fromkeys(claim for count in counts for claim in count)
               if len({count[claim] for count in counts}) > 1]
        if odd:
            yield f"{title}: its claims differ between repetitions: {'; '.join(odd)}"


def difference(claim, times):
    """How a claim differs that was made so many @times in each repetition."""
    word, text = claim
    if max(times) == 1:
        return f"'{text}' {word} in {sum(times)} of {len(times)}"
    return f"'{text}' {word} {min(times)} to {max(times)} times"


def print_skipped_and_failed(results):
    """Print the claims skipped and failed, with commands that repeat the tests; count all claims."""
    print()
    for word in (SKIPPED, FAILED):
        for r in results:
            texts = [text for result, text in r.claims if result == word]
            for text in texts:
                print(coloured(word), f'{r.title}: {text}')
            if texts and word == FAILED and r.repeat:
                print(f'     repeat: {r.repeat}')
    return collections.Counter(word for r in results for word, _ in r.claims)

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const css = readFileSync(new URL('palette.css', import.meta.url), 'utf8');
const [light, dark] = css.split('@media').map(
  (part) => Object.fromEntries([...part.matchAll(/(--[\w-]+): (#[0-9a-f]{6})/g)].map((match) => match.slice(1))));

// WCAG 2.2: relative luminance and contrast ratio.
function luminance(hex) {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function contrast(a, b) {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

for (const [scheme, colours] of Object.entries({ light, dark })) {
  test(`${scheme}: text is legible on both backgrounds`, () => {
    for (const text of ['--text', '--muted', '--good', '--bad']) {
      for (const ground of ['--page', '--surface']) {
        assert.ok(contrast(colours[text], colours[ground]) >= 4.5, `${text} on ${ground}`);
      }
    }
  });
  test(`${scheme}: every line stands out from its background`, () => {
    for (let i = 0; i < 8; i += 1) assert.ok(contrast(colours[`--series-${i}`], colours['--surface']) >= 3, `series ${i}`);
  });
  test(`${scheme}: a bar stands out from its track where it warns`, () => {
    for (const bar of ['--load-over']) assert.ok(contrast(colours[bar], colours['--track']) >= 3, bar);
  });
}

test('both schemes define the same names', () => assert.deepEqual(Object.keys(light), Object.keys(dark)));

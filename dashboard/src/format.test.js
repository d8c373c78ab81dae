import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clock, count, figure, loadLevel, percent, percentSign, ratio, shortClock } from './format.js';

test('the clock shows days only where there are any', () => {
  assert.equal(clock(0), '00:00:00');
  assert.equal(clock(3725.9), '01:02:05');
  assert.equal(clock(90061), '1 d 01:01:01');
  assert.equal(clock(null), '–');
});

test('ticks a minute apart or more leave the seconds out', () => {
  assert.equal(shortClock(3600, 600), '01:00');
  assert.equal(shortClock(90, 30), '00:01:30');
});

test('a number that is missing is a dash, not NaN', () => {
  for (const format of [percent, percentSign, ratio, count]) assert.equal(format(null), '–');
  assert.equal(percent(0.426), '43');
  assert.equal(percentSign(0.4261), '42.6 %');
  assert.equal(ratio(0.0821), '0.082');
  assert.equal(count(12345), '12,345');
});

test('a node is marked from 80 % on', () => {
  assert.equal(loadLevel(0.79), 'normal');
  assert.equal(loadLevel(0.8), 'high');
  assert.equal(loadLevel(1.4), 'over');
  assert.equal(loadLevel(null), 'normal');
});

test('a figure has about three digits, whatever its size', () => {
  assert.equal(figure(12.345), '12.3');
  assert.equal(figure(-0.04567), '-0.0457');
  assert.equal(figure(15340.2), '15,340');
  assert.equal(figure(null), '–');
});

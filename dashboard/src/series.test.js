import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aligned, curvePath } from './series.js';

const panel = (at_s, imbalance) => ({ history: { at_s, imbalance } });

test('policies sampled at the same moments share the axis', () => {
  assert.deepEqual(aligned([panel([0, 10], [1, 2]), panel([0, 10], [3, 4])], 'imbalance'), [[0, 10], [1, 2], [3, 4]]);
});

test('a policy without a sample at some moment has a gap there', () => {
  assert.deepEqual(aligned([panel([0, 20], [1, 2]), panel([10], [3])], 'imbalance'),
    [[0, 10, 20], [1, undefined, 2], [undefined, 3, undefined]]);
});

test('no policy yet is an empty axis', () => assert.deepEqual(aligned([], 'imbalance'), [[]]));

test('a curve fills its box, and leaves a gap where there is no number', () => {
  assert.equal(curvePath([0, 10, 20], [1, 3, 2], 100, 44), 'M0.0 42.0L50.0 2.0L100.0 22.0');
  assert.equal(curvePath([0, 10, 20], [1, null, 2], 100, 44), 'M0.0 42.0M100.0 2.0');
});

test('a curve that stands still is a line in the middle, and none is none', () => {
  assert.equal(curvePath([5, 6], [7, 7], 100, 44), 'M0.0 22.0L100.0 22.0');
  assert.equal(curvePath([], [], 100, 44), '');
});

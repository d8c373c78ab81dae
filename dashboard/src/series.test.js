import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aligned } from './series.js';

const panel = (at_s, imbalance) => ({ history: { at_s, imbalance } });

test('policies sampled at the same moments share the axis', () => {
  assert.deepEqual(aligned([panel([0, 10], [1, 2]), panel([0, 10], [3, 4])], 'imbalance'), [[0, 10], [1, 2], [3, 4]]);
});

test('a policy without a sample at some moment has a gap there', () => {
  assert.deepEqual(aligned([panel([0, 20], [1, 2]), panel([10], [3])], 'imbalance'),
    [[0, 10, 20], [1, undefined, 2], [undefined, 3, undefined]]);
});

test('no policy yet is an empty axis', () => assert.deepEqual(aligned([], 'imbalance'), [[]]));

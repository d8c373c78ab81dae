// The histories of all policies on one time axis, as the chart wants them: [times, values, values, …].
// Policies are sampled at the same moments as a rule, but a page must not break where they are not.
export function aligned(panels, metric) {
  const times = [...new Set(panels.flatMap((panel) => panel.history.at_s))].sort((a, b) => a - b);
  const columns = panels.map((panel) => {
    const byTime = new Map(panel.history.at_s.map((at, i) => [at, panel.history[metric][i]]));
    return times.map((at) => byTime.get(at));  // undefined: no sample here, the line goes on
  });
  return [times, ...columns];
}

// A line over the whole of a width × height box, as an SVG path; a value that is no number is a gap.
export function curvePath(xs, ys, width, height) {
  const known = ys.filter(Number.isFinite);
  if (known.length === 0) return '';
  const low = Math.min(...known), high = Math.max(...known), first = xs[0], last = xs[xs.length - 1];
  const x = (at) => (last > first ? ((at - first) / (last - first)) * width : 0);
  const y = (value) => (high > low ? height - 2 - ((value - low) / (high - low)) * (height - 4) : height / 2);
  let path = '', open = false;
  xs.forEach((at, i) => {
    if (Number.isFinite(ys[i])) path += `${open ? 'L' : 'M'}${x(at).toFixed(1)} ${y(ys[i]).toFixed(1)}`;
    open = Number.isFinite(ys[i]);
  });
  return path;
}

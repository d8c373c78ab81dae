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

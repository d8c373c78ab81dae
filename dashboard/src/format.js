// Numbers and times as people read them.

const twoDigits = (value) => String(value).padStart(2, '0');

// 3 d 04:05:06, days only where there are any.
export function clock(seconds) {
  if (!Number.isFinite(seconds)) return '–';
  const whole = Math.max(0, Math.floor(seconds));
  const days = Math.floor(whole / 86400);
  const time = [Math.floor(whole / 3600) % 24, Math.floor(whole / 60) % 60, whole % 60].map(twoDigits).join(':');
  return days > 0 ? `${days} d ${time}` : time;
}

// Ticks of a time axis: no seconds where the step is coarser.
export function shortClock(seconds, step) {
  const full = clock(seconds);
  return step >= 60 ? full.slice(0, -3) : full;
}

export function percent(share) {
  return Number.isFinite(share) ? `${Math.round(share * 100)}` : '–';
}

export function percentSign(share) {
  return Number.isFinite(share) ? `${(share * 100).toFixed(1)} %` : '–';
}

export function ratio(value) {
  return Number.isFinite(value) ? value.toFixed(3) : '–';
}

export function count(value) {
  return Number.isFinite(value) ? value.toLocaleString('en-US') : '–';
}

// Above 80 % a node counts as overloaded; at 100 % something waits.
export function loadLevel(share) {
  if (!(share >= 0.8)) return 'normal';
  return share >= 0.995 ? 'over' : 'high';
}

// Any figure in about three digits: 12.3, 0.045, 1,534.
export function figure(value) {
  if (!Number.isFinite(value)) return '–';
  return Math.abs(value) >= 1000 ? count(Math.round(value)) : String(Number(value.toPrecision(3)));
}

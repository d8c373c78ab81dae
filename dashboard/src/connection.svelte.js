// The latest state the server pushed, and whether it still does. EventSource reconnects by itself.
export function connect(url = '/api/events') {
  const connection = $state({ status: 'connecting', problem: '' });
  let latest = $state.raw(null);  // replaced as a whole: tracking every number inside would cost more than drawing

  const source = new EventSource(url);
  source.onopen = () => { connection.status = 'live'; };
  source.onerror = () => { connection.status = 'lost'; };
  source.onmessage = (event) => {
    try {
      const state = JSON.parse(event.data);
      if (!Array.isArray(state.panels)) throw new Error('no panels');
      latest = state;
      connection.problem = '';
    } catch (problem) {
      connection.problem = `a state could not be read: ${problem.message}`;
    }
  };
  return {
    get status() { return connection.status; },
    get problem() { return connection.problem; },
    get state() { return latest; },
    close: () => source.close(),
  };
}

/** Preloaded into the server by a test: at SIGUSR2 it throws an error that nothing catches. */
process.on('SIGUSR2', () => {
  const fault = new RangeError('canary');
  if (process.env.LATE_FAULT === 'reject') void Promise.reject(fault);
  else
    setTimeout(() => {
      throw fault;
    });
});

/** Loaded in front of the server by a test: at SIGUSR2 something fails that nothing catches. */
process.on('SIGUSR2', () => {
  const fault = new RangeError('canary');
  if (process.env.LATE_FAULT === 'reject') void Promise.reject(fault);
  else
    setTimeout(() => {
      throw fault;
    });
});

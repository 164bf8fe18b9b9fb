/** Why no server opens a store that a move has closed, or is filling. @param where `in the data folder` */
export const fencedWords = (where: string) => ({
  filling:
    `The store ${where} is not whole yet: mayfly migrate-store is filling it. Run that command again with --finish, or serve ` +
    'from the store that is being moved.',
  closed:
    `The store ${where} was closed by mayfly migrate-store, and another is taking its place. Serve from that one: set ` +
    'MAYFLY_STORE or MAYFLY_DATA_DIR. If the move was cut short, run the command again with --finish.',
});

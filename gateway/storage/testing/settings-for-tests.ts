/**
 * PostgreSQL's settings where only tests look at the data. No power failure is simulated, so
 * nothing has to reach the disk. And nothing is vacuumed: with a database for each test, the visits
 * to all of them would take a good part of a core.
 */
export const settingsForTests = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  autovacuum: "off",
  io_method: "sync",
  max_connections: "600",
};

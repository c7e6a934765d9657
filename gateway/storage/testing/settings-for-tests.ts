/**
 * PostgreSQL's settings for tests. No power failure is simulated, so nothing has to reach the disk.
 * Autovacuum is off, because visiting the database of each test would take a good part of a
 * processor core.
 */
export const settingsForTests = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  autovacuum: "off",
  io_method: "sync",
  max_connections: "600",
};

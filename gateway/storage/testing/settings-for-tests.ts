/**
 * PostgreSQL's settings for tests. Nothing has to reach the disk, because no power failure is
 * simulated. Autovacuum is off, because visits to each test's database would take much processor
 * time. Tests read the write-ahead log, which a checkpoint for another test must not remove.
 */
export const settingsForTests = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  autovacuum: "off",
  io_method: "sync",
  max_connections: "600",
  wal_keep_size: "1GB",
};

/**
 * How our own PostgreSQL runs. Given on its command line, so that what is in force never depends
 * on a file somebody edited. Nothing here trades safety for speed: a committed order is on disk.
 */
export function settingsFor(options: {
  readonly socketFolder: string;
  readonly walCompression: "lz4" | "off";
  readonly overrides: Readonly<Record<string, string>>;
}): readonly string[] {
  const all = {
    ...settings,
    unix_socket_directories: options.socketFolder,
    wal_compression: options.walCompression,
    ...options.overrides,
  };
  return Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}

// biome-ignore format: a table
const settings = {
  // Reached through a socket file in a folder of its own: nothing listens on the network.
  listen_addresses:                      "",
  port:                                  "5432",
  unix_socket_permissions:               "0700",
  max_connections:                       "100",

  // A commit that was answered survives a loss of power.
  fsync:                                 "on",
  synchronous_commit:                    "on",
  full_page_writes:                      "on",

  shared_buffers:                        "256MB",
  wal_buffers:                           "16MB",
  max_wal_size:                          "4GB",
  checkpoint_timeout:                    "15min",
  jit:                                   "off",
  timezone:                              "UTC",

  // Order rows are updated a few times soon after their insert: many small vacuums, no big one.
  autovacuum_naptime:                    "15s",
  autovacuum_vacuum_scale_factor:        "0.02",
  autovacuum_vacuum_insert_scale_factor: "0.05",
  autovacuum_analyze_scale_factor:       "0.02",
  autovacuum_vacuum_cost_limit:          "1000",

  // Parameters, failing rows and statements hold sealed cards and personal particulars. None is
  // ever logged; the gateway's own log says which function failed.
  log_min_messages:                      "warning",
  log_parameter_max_length:              "0",
  log_parameter_max_length_on_error:     "0",
  log_error_verbosity:                   "terse",
  log_min_error_statement:               "panic",
  log_statement:                         "none",
  log_timezone:                          "UTC",
  logging_collector:                     "off",
} as const;

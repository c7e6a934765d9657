/**
 * Loads what a gateway and a sandbox bank are made of, and ends: what Node makes of the sources is
 * then kept (NODE_COMPILE_CACHE), and every later process starts sooner and smaller by what the
 * making takes.
 */
await Promise.all([
  import("../gateway/cli/start.ts"),
  import("../gateway/callbacks/send.ts"),
  import("../sandbox-bank/bank.ts"),
]);

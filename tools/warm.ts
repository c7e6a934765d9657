/**
 * Loads the sources of the gateway and the sandbox bank, and ends: Node then keeps their compiled
 * form (NODE_COMPILE_CACHE), so that later processes start faster and without the compiler.
 */
await Promise.all([
  import("../gateway/cli/start.ts"),
  import("../gateway/callbacks/send.ts"),
  import("../sandbox-bank/bank.ts"),
]);

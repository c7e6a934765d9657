/**
 * Loads the sources of the gateway and the sandbox bank, and ends. Node then keeps their compiled
 * form (NODE_COMPILE_CACHE), so that later processes start faster and without the compiler. If one
 * source is missing here, `npm start` loads the compiler.
 */
await Promise.all([
  import("../gateway/cli/start.ts"),
  import("../gateway/staging/staging.ts"),
  import("../gateway/callbacks/send.ts"),
  import("../sandbox-bank/bank.ts"),
]);
// The command line runs when it is loaded, and its help ends this process.
process.argv.push("start", "--help");
await import("../gateway/cli/gw.ts");

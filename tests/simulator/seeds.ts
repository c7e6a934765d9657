/**
 * The seeds that the tests run. Those of the short run were chosen by what they cover: together
 * they find all planted faults (`npm run simulate:planted -- --short`) and reach every cell
 * of the transition tables that the long run reaches (`npm run simulate -- --short --cells`). A
 * change of the gateway changes what a seed does. When the test of their coverage fails, choose
 * again: print the cells of each seed, and add the seeds that reach the missing ones.
 */

/** The number of orders of a test's simulation. */
export const ordersPerSeed = 50;

// biome-ignore format: a list
export const shortSeeds: readonly number[] = [
  2, 17, 27, 29, 34, 36, 48, 54, 66, 83, 91, 96, 102, 105, 112, 123, 125, 129, 134, 140, 144,
  159, 160, 173, 180, 213, 227, 243, 268, 278, 299, 305, 319, 333, 396,
];

/** The seeds of the long run are those from 1 to this one. */
export const longSeeds = 600;

/**
 * The short seeds reached 280 cells when they were chosen. Below this number they are chosen again.
 */
export const cellsMin = 276;

/** Tasks one after the other: each begins when those before it have ended, well or not. */
export type InTurn = <Result>(task: () => Promise<Result>) => Promise<Result>;

export function makeInTurn(): InTurn {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const turn = last.then(task, task);
    last = turn;
    return turn;
  };
}

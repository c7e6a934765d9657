/** Callbacks of a node: their messages, the thread that sends them, and their delivery. */
import { type AddressSettings, makeAddressChecks, readAddressOptions } from "./addresses.ts";
import type { CallbackStore } from "./callback.ts";
import { startCallbackWorker } from "./callback-worker.ts";
import { type DeliveryDependencies, makeDelivery } from "./deliver.ts";
import {
  type CallbackJournal,
  type MessageDependencies,
  makeBuildMessage,
  makeRewrite,
} from "./message.ts";

type Options = Omit<MessageDependencies, "clock"> &
  Pick<DeliveryDependencies, "observe"> & {
    readonly clock: DeliveryDependencies["clock"] & { certain(): Promise<void> };
    readonly settings: AddressSettings & {
      readonly callbackTimeoutMs: number;
      readonly callbackRetryGapsMs: readonly number[];
      readonly callbackKeepDays: number;
      /** Empty: receivers are called directly. */
      readonly callbackProxy: string;
      readonly drainMs: number;
    };
    readonly store: CallbackStore & CallbackJournal;
    readonly log: DeliveryDependencies["log"] &
      ((event: "callback.worker_lost", facts: object) => void);
  };

export type Callbacks = ReturnType<typeof openCallbacks>;

export function openCallbacks(options: Options) {
  const { store, clock, settings, log } = options;
  const { callbackTimeoutMs: timeoutMs, callbackProxy: proxy } = settings;
  const buildMessage = makeBuildMessage(options);
  const worker = startCallbackWorker(
    {
      addresses: readAddressOptions(settings),
      resolvesBySystem: settings.environment === "staging",
      proxy: proxy === "" ? undefined : proxy,
    },
    { clock, timeoutMs, onLost: (cause) => log("callback.worker_lost", { cause }) },
  );
  const delivery = makeDelivery({
    ...options,
    worker,
    buildMessage,
    timeoutMs,
    drainMs: settings.drainMs,
    keepDays: settings.callbackKeepDays,
    retry: { gapsMs: settings.callbackRetryGapsMs, random: Math.random },
  });
  return {
    ...delivery,
    /** By a time that the database has confirmed. */
    claimDue: () => clock.certain().then(delivery.claimDue),
    ...makeAddressChecks(settings),
    find: store.find,
    findOrder: store.findOrder,
    /** The request of a callback as it would be sent now. */
    write: makeRewrite(store, buildMessage),
  };
}

/** Ids that are all a merchant has of a card: random, so that none can be guessed from another. */
import { asCardRefId, type CardRefId } from "../values/ids.ts";
import { takeRandom } from "./nonces.ts";

/** Never shorter than this: an id of a few digits would be found by trying. */
const idMin = 10n ** 18n;

/** Sixty-two bits and a floor under them: nineteen digits always. */
export function newCardRefId(): CardRefId {
  return asCardRefId(String(idMin + (takeRandom(8).readBigUInt64BE() >> 2n)));
}

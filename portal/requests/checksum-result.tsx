/** Shows the values that a checksum covers, and the common mistake that explains a wrong one. */
import { SignedParts } from "../callbacks/state.tsx";
import { useMessages } from "../language/language.tsx";
import type { OutputOf } from "../shell/call.ts";

type Checksum = OutputOf<"POST /checksum/try">;

type Props = { readonly checksum: Checksum; readonly wasSent?: boolean };

export function ChecksumResult({ checksum, wasSent = true }: Props) {
  const messages = useMessages();
  return (
    <>
      {wasSent ? (
        <Verdict {...checksum} />
      ) : (
        <div className="verdict" data-is="wrong" role="status">
          <p>{messages.checksumAbsent}</p>
        </div>
      )}
      <p className="hint">{messages.checksumCovers}</p>
      <SignedParts parts={checksum.parts} />
    </>
  );
}

function Verdict({ matches, mistakes }: Checksum) {
  const messages = useMessages();
  if (matches || mistakes.length === 0) {
    return (
      <div className="verdict" data-is={matches ? "right" : "unknown"} role="status">
        <p>{matches ? messages.checksumMatches : messages.checksumUnknown}</p>
      </div>
    );
  }
  return (
    <div className="verdict" data-is="wrong" role="status">
      <p>{messages.checksumMistake}</p>
      <ul>
        {mistakes.map(({ kind, detail }) => (
          <li key={`${kind} ${detail}`}>
            {messages.mistakes[kind]} {detail !== "" && <code>{detail}</code>}
          </li>
        ))}
      </ul>
    </div>
  );
}

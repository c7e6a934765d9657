/** What waits for a second person; a user gives none of their own. */
import { Button, Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { usePerformer } from "../actions/performer.tsx";
import { Time } from "../design/details.tsx";
import { Failed, Nothing, Refusal } from "../design/states.tsx";
import { useMessages } from "../language/language.tsx";
import { call } from "../shell/call.ts";

export function Approvals() {
  const messages = useMessages();
  const found = useQuery({
    queryKey: ["approvals"],
    queryFn: ({ signal }) => call("GET /approvals", {}, { signal }),
  });
  const give = usePerformer((approval: string) =>
    call("POST /approvals/give/:approval", { approval }),
  );
  if (found.error !== null) {
    return <Failed error={found.error} retry={() => void found.refetch()} />;
  }
  if (found.data === undefined) return <Skeleton height={200} />;
  const { approvals } = found.data;
  if (approvals.length === 0)
    return <Nothing title={messages.noApprovals} hint={messages.approvalsHint} />;
  return (
    <>
      <Refusal text={give.error?.message} />
      <table className="listing">
        <tbody>
          {approvals.map(({ id, work, askedBy, askedAt, isGiven, isOwn }) => (
            <tr key={id}>
              <td>{id}</td>
              <td>
                <b>{work}</b>
              </td>
              <td className="quiet">
                {messages.askedBy} {askedBy}, <Time at={askedAt} />
              </td>
              <td className="tools">
                {isGiven && messages.given}
                {!isGiven && !isOwn && (
                  <Button aria-label={messages.giveFor(work)} onClick={() => give.mutate(id)}>
                    {messages.give}
                  </Button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

/** What waits for a second person; a user gives none of their own. */
import { Button } from "@mantine/core";
import { usePerformer } from "../actions/performer.tsx";
import { Time } from "../design/details.tsx";
import { List } from "../design/list.tsx";
import { Refusal } from "../design/states.tsx";
import { useMessages } from "../language/language.tsx";
import { call, useAnswer } from "../shell/call.ts";

export function Approvals() {
  const messages = useMessages();
  const found = useAnswer("GET /approvals", {});
  const give = usePerformer((approval: string) =>
    call("POST /approvals/give/:approval", { approval }),
  );
  return (
    <>
      <Refusal text={give.error?.message} />
      <List
        found={found}
        rowsOf={({ approvals }) => approvals}
        none={[messages.noApprovals, messages.approvalsHint]}
      >
        {(approvals) => (
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
                  <td className="row-actions">
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
        )}
      </List>
    </>
  );
}

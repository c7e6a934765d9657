/** Requests that wait for the approval of a second person. Users cannot approve their own. */
import { Button } from "@mantine/core";
import { usePerformer } from "../actions/performer.tsx";
import { Stamp } from "../design/details.tsx";
import { List } from "../design/list.tsx";
import { Refusal } from "../design/states.tsx";
import { useMessages } from "../language/language.tsx";
import { call, useAnswer } from "../shell/call.ts";

export function Approvals() {
  const messages = useMessages();
  const found = useAnswer("GET /approvals", {});
  const give = usePerformer((id: string) =>
    call("POST /actions/run", { action: "approval give", values: { id } }),
  );
  return (
    <>
      <Refusal text={give.error?.message} />
      <List
        found={found}
        rowsOf={({ approvals }) => approvals}
        none={[messages.noApprovals, messages.approvalsHint]}
        keyOf={({ id }) => id}
        columns={[
          [messages.id, ({ id }) => id],
          [messages.operation, ({ work }) => <b>{work}</b>],
          [
            messages.askedBy,
            ({ askedBy, askedAt }) => <Stamp at={askedAt} by={askedBy} />,
            "quiet",
          ],
        ]}
        actions={({ id, work, isGiven, isOwn }) =>
          isGiven
            ? messages.given
            : !isOwn && (
                <Button aria-label={messages.giveFor(work)} onClick={() => give.mutate(id)}>
                  {messages.give}
                </Button>
              )
        }
      />
    </>
  );
}

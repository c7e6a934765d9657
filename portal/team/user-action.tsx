/** One change of another user, told before it is made. */
import { useState } from "react";
import { PerformerForm, usePerformer } from "../actions/performer.tsx";
import { Dialog } from "../design/dialog.tsx";
import { useMessages } from "../language/language.tsx";
import { call } from "../shell/call.ts";
import { TemporaryPassword } from "./add-user.tsx";
import { RoleFields } from "./role-fields.tsx";
import { actionLabels, type Chosen, type Listed, type UserActionName } from "./roles.ts";

type UserActionProps = {
  readonly user: Listed;
  readonly action: UserActionName;
  readonly close: () => void;
};

export function UserAction({ user, action, close }: UserActionProps) {
  const messages = useMessages();
  const { login, role, merchant = "" } = user;
  const [chosen, setChosen] = useState<Chosen>({
    role: role === "service" ? "auditor" : role,
    merchant,
  });
  const labels = actionLabels(messages);
  const run = usePerformer(
    async () => {
      if (action === "password") return call("POST /users/password/:login", { login });
      if (action === "factors") await call("POST /users/reset-factors/:login", { login });
      else if (action === "role")
        await call("POST /users/role/:login", { login, role: chosen.role });
      else await call("POST /users/enable/:login", { login, enabled: action === "enable" });
      return undefined;
    },
    { onDone: (made) => made ?? close() },
  );
  if (run.data !== undefined) {
    return <TemporaryPassword title={labels.password} made={run.data} close={close} />;
  }
  return (
    <Dialog title={`${labels[action]}: ${login}`} close={close}>
      <PerformerForm
        performer={run}
        hint={messages.userActionHints[action]}
        label={labels[action]}
        isDangerous={action === "disable"}
      >
        {action === "role" && <RoleFields changed={user} chosen={chosen} choose={setChosen} />}
      </PerformerForm>
    </Dialog>
  );
}

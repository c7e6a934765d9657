/** One change of another user, told before it is made. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ActionForm, Dialog } from "../design/dialog.tsx";
import { useMessages } from "../language/language.tsx";
import { call, type User } from "../shell/call.ts";
import { TemporaryPassword } from "./add-user.tsx";
import { RoleFields } from "./role-fields.tsx";
import { actionLabels, type Chosen, type Listed, type UserActionName } from "./roles.ts";

type UserActionProps = {
  readonly user: Listed;
  readonly action: UserActionName;
  readonly own: User;
  readonly close: () => void;
};

export function UserAction({ user, action, own, close }: UserActionProps) {
  const messages = useMessages();
  const queries = useQueryClient();
  const { login, role, merchant = "" } = user;
  const [chosen, setChosen] = useState<Chosen>({
    ...{ role: role === "service" ? "auditor" : role, merchant },
  });
  const labels = actionLabels(messages);
  const run = useMutation({
    async mutationFn() {
      if (action === "password") return call("POST /users/password/:login", { login });
      if (action === "factors") await call("POST /users/reset-factors/:login", { login });
      else if (action === "role")
        await call("POST /users/role/:login", { login, role: chosen.role });
      else await call("POST /users/enable/:login", { login, enabled: action === "enable" });
      return undefined;
    },
    async onSuccess(made) {
      await queries.invalidateQueries({ queryKey: ["users"] });
      if (made === undefined) close();
    },
  });
  if (run.data !== undefined) {
    return <TemporaryPassword title={labels.password} made={run.data} close={close} />;
  }
  return (
    <Dialog title={`${labels[action]}: ${login}`} close={close}>
      <ActionForm
        hint={messages.userActionHints[action]}
        label={labels[action]}
        isDangerous={action === "disable"}
        isPending={run.isPending}
        error={run.error}
        send={() => run.mutate()}
      >
        {action === "role" && (
          <RoleFields user={own} changed={user} chosen={chosen} choose={setChosen} />
        )}
      </ActionForm>
    </Dialog>
  );
}

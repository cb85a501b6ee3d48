import { useTranslation } from "react-i18next";
import { problemText } from "../model/problem-text";
import classes from "./dialogs.module.css";

/** Why an action did not go through. */
export function ActionProblem({ error }: { error: Error | null }) {
  const { t } = useTranslation();
  if (error === null) return null;
  return (
    <p className={classes.problem} role="alert">
      {problemText(error, t)}
    </p>
  );
}

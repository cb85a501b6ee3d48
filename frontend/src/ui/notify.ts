import { notifications } from "@mantine/notifications";

/** Something was done; the note leaves by itself. */
export function notifyGood(title: string): void {
  notifications.show({ message: title, autoClose: 3000, withBorder: true, role: "status" });
}

/** Something failed; says what to do. */
export function notifyProblem(title: string, what: string): void {
  notifications.show({ title, message: what, color: "red", autoClose: 10_000, withBorder: true, role: "alert" });
}

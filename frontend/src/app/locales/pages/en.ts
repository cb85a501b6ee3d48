import { compare } from "@/app/locales/compare.en";
import { cost } from "@/app/locales/cost/en";
import { explore } from "@/app/locales/explore/en";
import { files } from "@/app/locales/files/en";
import { log } from "@/app/locales/log/en";
import { meeting } from "@/app/locales/meeting.en";
import { notify } from "@/app/locales/notify.en";
import { pools } from "@/app/locales/pools/en";
import { profiles } from "@/app/locales/profiles/en";
import { store } from "@/app/locales/store/en";
import { timeouts } from "@/app/locales/timeouts.en";
import { users } from "@/app/locales/users.en";

/** English texts of pages that are loaded when they are opened; `locales.test.ts` holds that the first page needs none. */
export const pages = { compare, cost, meeting, notify, users, timeouts, pools, files, log, profiles, store, explore };

import { count, section } from '../../kernel/settings.ts'

/** So many endpoints can be asked at once by a process, each by itself: none waits for another. */
export const ENDPOINTS_MAX = 50

export const webhooksSettings = section('What others are told as it happens, by signed requests.', {
  endpoints_max: count('The most endpoints.', 20, 1, ENDPOINTS_MAX),
  at_once: count('How many requests a process makes to one endpoint at once.', 4, 1, 16),
  timeout_seconds: count('How long a request to an endpoint may take in all, in seconds.', 15, 1, 30),
  disable_after_days: count('An endpoint that has failed for so many days is switched off.', 5, 1, 30),
  kept_days: count('What was told, and what was not, is deleted after so many days.', 30, 7, 365)
})

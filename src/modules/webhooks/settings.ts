import { integerSetting, settingsSection } from '../../kernel/settings.ts'

/** Maximum number of endpoints, and of send jobs per process, so that no endpoint waits for another. */
export const WEBHOOK_ENDPOINTS_MAX = 50

export const webhooksSettings = settingsSection(
  'Webhooks: signed requests to other systems when events happen.',
  {
    endpoints_max: integerSetting('Maximum number of webhook endpoints.', 20, 1, WEBHOOK_ENDPOINTS_MAX),
    concurrency: integerSetting('Simultaneous requests per process to one endpoint.', 4, 1, 16),
    timeout_seconds: integerSetting('Seconds that a request to an endpoint may take in total.', 15, 1, 30),
    disable_after_days: integerSetting(
      'Days of consecutive failures after which an endpoint is disabled.',
      5,
      1,
      30
    ),
    retention_days: integerSetting(
      'Days after which delivered and failed deliveries are deleted.',
      30,
      7,
      365
    )
  }
)

import {
  defineModule,
  MailSendError,
  type NotificationTransport,
  notificationsModule,
  notificationTransportPort,
  type Platform,
  provide,
  settings
} from 'cartwright'

type Deps = { http: Platform['http']; url: string; apiKey: string }

export const createAcmeMailTransport = ({ http, url, apiKey }: Deps): NotificationTransport => ({
  send: async ({ messageId, from, replyTo, to, subject, text, html, headers }, signal) => {
    const { status, body } = await http.send({
      url: `${url}/messages`,
      method: 'POST',
      signal,
      timeoutMs: 60_000,
      isConfigured: true,
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      // The service recognizes a retry by its id, and accepts each message once.
      body: JSON.stringify({ id: messageId, from, reply_to: replyTo, to, subject, text, html, headers })
    })
    if (status === 202) return
    const { reason } = JSON.parse(body.toString()) as { readonly reason: string }
    const isUnknownAddress = reason === 'unknown_recipient'
    throw new MailSendError(`Acme Mail responded ${status}: ${reason}`, {
      isPermanent: isUnknownAddress || reason === 'rejected',
      isUnknownAddress
    })
  }
})

export const acmeMailModule = defineModule({
  name: 'acme_mail',
  description: 'Sends mails by the API of Acme Mail.',
  basePaths: [],
  settings: settings.settingsSection('Acme Mail.', {
    url: settings.textSetting('URL of the API of Acme Mail.', 'https://api.acme-mail.example'),
    api_key: settings.secretSetting('API key of Acme Mail.')
  }),
  requires: { notifications: notificationsModule },
  uses: {},
  provides: [notificationTransportPort],
  setup: async ({ http }, { url, api_key: apiKey }) => ({
    api: {},
    provides: [
      provide(notificationTransportPort, 'acme_mail', createAcmeMailTransport({ http, url, apiKey }))
    ]
  })
})

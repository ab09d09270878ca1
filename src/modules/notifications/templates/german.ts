import type { MailTemplateName } from './definitions.ts'
import { createDefaultMailTemplateBuilder, type MailTemplateSource } from './mail-parts.ts'

const { plain, orderMail, shipmentMail, linkMail } = createDefaultMailTemplateBuilder({
  hello: 'Guten Tag',
  order: {
    discount: 'Rabatt',
    shipping: 'Versand',
    tax: 'Steuer',
    included: 'Enthaltene Steuer',
    total: 'Gesamt',
    due: 'Noch zu zahlen'
  },
  seeOrder: 'Ihre Bestellung ansehen',
  seeButton: 'Bestellung ansehen',
  trackingNumber: 'Sendungsnummer',
  until: 'Der Link gilt bis {{ expires_at | moment }}.',
  unsubscribe: 'Keine solchen Mails mehr erhalten',
  unsubscribeLink: 'Keine solchen Mails mehr erhalten'
})

export const germanMailTemplates: Readonly<Record<MailTemplateName, MailTemplateSource>> = {
  welcome: plain(
    'Willkommen bei {{ shop.name }}',
    'Ihr Konto ist eingerichtet. Schön, dass Sie da sind.',
    "{% if shop.url != '' %}Sehen Sie sich um: {{ shop.url }}{% endif %}"
  ),
  verify_email: linkMail(
    'Bestätigen Sie Ihre E-Mail-Adresse',
    'Bitte bestätigen Sie, dass dies Ihre E-Mail-Adresse ist.',
    'Bestätigen',
    'Wenn Sie das nicht waren, müssen Sie nichts tun.'
  ),
  reset_password: linkMail(
    'Wählen Sie ein neues Passwort',
    'Jemand, hoffentlich Sie selbst, möchte ein neues Passwort für Ihr Konto wählen.',
    'Passwort wählen',
    'Wenn Sie das nicht waren, müssen Sie nichts tun: Ihr Passwort bleibt, wie es ist.'
  ),
  password_changed: plain(
    'Ihr Passwort wurde geändert',
    'Das Passwort Ihres Kontos wurde am {{ at | moment }} geändert.',
    'Wenn Sie das nicht waren, wählen Sie bitte sofort ein neues, und sagen Sie uns Bescheid.'
  ),
  api_key_created: plain(
    'Für Ihr Konto wurde ein API-Schlüssel erstellt',
    'Der API-Schlüssel „{{ name }}“ wurde am {{ at | moment }} für Ihr Konto erstellt. Er kann im Shop, was Sie können.',
    'Wenn Sie das nicht waren, widerrufen Sie ihn und ändern Sie sofort Ihr Passwort.'
  ),
  second_factor_changed: plain(
    'Der zweite Faktor Ihres Kontos',
    "{% if change == 'enrolled' %}Für Ihr Konto wurde am {{ at | moment }} ein zweiter Faktor eingerichtet.{% elsif change == 'removed' %}Der zweite Faktor Ihres Kontos wurde am {{ at | moment }} entfernt.{% elsif change == 'reset' %}Der Betreiber des Shops hat den zweiten Faktor Ihres Kontos am {{ at | moment }} zurückgesetzt. Bis Sie einen neuen einrichten, melden Sie sich mit dem Passwort allein an.{% elsif change == 'recovery_code_used' %}Am {{ at | moment }} hat sich jemand mit einem Wiederherstellungscode in Ihrem Konto angemeldet.{% else %}Die Wiederherstellungscodes Ihres Kontos wurden am {{ at | moment }} ersetzt.{% endif %}",
    'Wenn Sie das nicht waren, ändern Sie sofort Ihr Passwort und sagen Sie uns Bescheid.'
  ),
  email_changed: plain(
    'Ihre E-Mail-Adresse wurde geändert',
    'Die E-Mail-Adresse Ihres Kontos wurde am {{ at | moment }} geändert.',
    'Wenn Sie das nicht waren, sagen Sie uns bitte sofort Bescheid.'
  ),
  guest_data: linkMail(
    "{% if action == 'erase' %}Löschen Sie Ihre Daten{% else %}Sehen Sie Ihre Daten{% endif %}",
    "{% if action == 'erase' %}Sie haben uns gebeten, die Daten Ihrer Bestellungen zu löschen. Bitte bestätigen Sie das.{% else %}Sie haben uns nach den Daten gefragt, die wir zu Ihren Bestellungen speichern.{% endif %}",
    "{% if action == 'erase' %}Meine Daten löschen{% else %}Meine Daten zeigen{% endif %}",
    'Wenn Sie das nicht waren, müssen Sie nichts tun.'
  ),
  order_placed: orderMail(
    'Ihre Bestellung {{ order.number }}',
    'Vielen Dank für Ihre Bestellung {{ order.number }}.{% if order.payment_status == "paid" %} Wir haben Ihre Zahlung erhalten.{% elsif order.terms == "on_account" %} Sie zahlen auf Rechnung.{% elsif order.terms == "cod" %} Sie zahlen bei der Lieferung.{% endif %}'
  ),
  order_paid: orderMail(
    'Ihre Zahlung für die Bestellung {{ order.number }}',
    'Wir haben Ihre Zahlung für die Bestellung {{ order.number }} erhalten.'
  ),
  order_shipped: shipmentMail(
    'Ihre Bestellung {{ order.number }} ist unterwegs',
    'Dieser Teil Ihrer Bestellung {{ order.number }} ist unterwegs:'
  ),
  order_delivered: shipmentMail(
    'Ihre Bestellung {{ order.number }} ist angekommen',
    'Dieser Teil Ihrer Bestellung {{ order.number }} wurde zugestellt:'
  ),
  order_canceled: plain(
    'Ihre Bestellung {{ order.number }} ist storniert',
    'Ihre Bestellung {{ order.number }} ist storniert. Sie wird nicht mehr versandt, und was Sie dafür bezahlt haben, erhalten Sie zurück.'
  ),
  order_evicted: plain(
    '{% if outcome == "canceled" %}Ihre Bestellung {{ order.number }} ist storniert{% else %}Ihre Bestellung {{ order.number }} hat sich geändert{% endif %}',
    'Ihre Bestellung {{ order.number }} war noch nicht bezahlt, und jemand anderes hat bezahlt, was noch da war.',
    '{% if outcome == "canceled" %}Wir mussten Ihre Bestellung stornieren. Haben Sie inzwischen bezahlt, erhalten Sie Ihr Geld zurück.{% else %}Wir mussten die Artikel stornieren, die wir nicht mehr haben. Der Rest ist weiterhin für Sie reserviert. Er kostet weniger, bitte beginnen Sie die Zahlung neu.{% endif %}'
  ),
  order_refunded: plain(
    'Ihre Erstattung für die Bestellung {{ order.number }}',
    'Wir haben Ihnen {{ amount | money: order.currency }} für die Bestellung {{ order.number }} erstattet. Bis das Geld ankommt, kann es einige Tage dauern.'
  ),
  low_stock: plain(
    '{% if status == "out" %}Ausverkauft{% else %}Wird knapp{% endif %}: {{ variants[0].name }}',
    '{% for variant in variants %}{{ variant.name }} ({{ variant.sku }}){% unless forloop.last %}, {% endunless %}{% endfor %}: noch {{ available }}.'
  ),
  unpaid_stock: plain(
    'Unbezahlte Bestellungen reservieren {{ units }} Stück',
    '{{ orders }} unbezahlte Bestellungen von {{ buyers }} Bestellern reservieren {{ units }} Stück. Sie kamen aus {{ networks }} Netzen; eines davon reserviert {{ largest_network_units }} Stück.',
    'Am stärksten betroffen: {% for variant in variants %}{{ variant.name }} ({{ variant.sku }}): {{ variant.units }} Stück, {{ variant.percent }} %{% unless forloop.last %}; {% endunless %}{% endfor %}.',
    'Sind diese Bestellungen nicht echt, stornieren Sie sie, und senken Sie orders.unpaid_stock oder nehmen Sie Überweisung, Nachnahme und Rechnung aus payments.manual_methods.'
  ),
  webhooks_off: plain(
    'Webhooks an {{ endpoint.host }} sind abgeschaltet',
    'Der Shop hat den Webhook-Empfänger {{ endpoint.host }}{% if endpoint.description != "" %} ({{ endpoint.description }}){% endif %} abgeschaltet, weil {% if reason == "gone" %}er mit 410 geantwortet hat, also nicht mehr besteht{% else %}seit {{ failing_since | moment }} jede Zustellung fehlgeschlagen ist{% endif %}.',
    'Der letzte Versuch: {{ error }}.{% if answer != "" %} So begann die Antwort: {{ answer }}{% endif %}',
    'Ereignisse werden ab jetzt nicht für ihn gespeichert. Wartende Zustellungen werden gesendet, sobald ein Administrator ihn wieder einschaltet: PATCH /api/admin/webhooks/endpoints/{{ endpoint.id }} mit {"active": true}.'
  )
}

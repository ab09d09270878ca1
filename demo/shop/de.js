/** Alle Texte des Shops auf Deutsch. Ein Test vergleicht die Schlüssel mit `en.js`. */
export const de = {
  name: 'Deutsch',
  page: {
    skip: 'Zum Inhalt springen',
    home: 'Zur Startseite',
    retry: 'Noch einmal versuchen',
    failed: 'Etwas ist schiefgegangen',
    missing: 'Diese Seite gibt es nicht',
    search: 'Suchen',
    market: 'Markt',
    language: 'Sprache',
    navigation: 'Konto und Warenkorb',
    footer: 'Dies ist die Oberfläche eines Shops in der Entwicklung. Es fließt kein Geld.',
    api: 'Die API dahinter'
  },
  menu: { account: 'Konto', logIn: 'Anmelden', orders: 'Bestellungen', cart: 'Warenkorb' },
  form: {
    optional: ' (freiwillig)',
    incomplete: 'Einige Felder fehlen oder sind falsch. Der Hinweis am Feld sagt, was zu tun ist.',
    save: 'Speichern',
    saved: 'Gespeichert.',
    remove: 'Entfernen',
    cancel: 'Abbrechen'
  },
  browse: {
    all: 'Alle Produkte',
    categories: 'Kategorien',
    sort: 'Sortieren nach',
    sorts: {
      newest: 'Neueste',
      name: 'Name',
      price: 'Preis: aufsteigend',
      '-price': 'Preis: absteigend'
    },
    quoted: text => `„${text}“`,
    empty: 'Dieser Shop hat noch keine Produkte. Importieren Sie welche, oder legen Sie sie mit der API an.',
    nothingFound: 'Es wurden keine Produkte gefunden.',
    showAll: 'Alle Produkte anzeigen',
    pages: 'Seiten',
    firstPage: 'Erste Seite',
    nextPage: 'Nächste Seite',
    notSold: 'Hier nicht erhältlich',
    soldOut: 'Ausverkauft',
    from: 'ab ',
    before: 'vorher '
  },
  product: {
    notSold: 'Dieses Produkt wird hier zurzeit nicht verkauft.',
    kind: 'Ausführung',
    quantity: 'Menge',
    add: 'In den Warenkorb',
    added: 'Liegt im Warenkorb.',
    addedNamed: name => `${name} liegt im Warenkorb.`,
    toCart: 'Zum Warenkorb',
    noCombination: 'Diese Kombination gibt es nicht.',
    soldOut: 'Ausverkauft',
    left: count => `Nur noch ${count} vorrätig.`,
    rule: ({ min, max, step }) =>
      `Erhältlich ab ${min}${max === null ? '' : ` bis ${max}`} Stück${step === 1 ? '' : `, in Schritten von ${step}`}.`
  },
  reviews: {
    title: 'Bewertungen',
    none: 'Es gibt noch keine Bewertungen.',
    average: (average, count) =>
      `${average} von 5 Sternen, ${count} ${count === 1 ? 'Bewertung' : 'Bewertungen'}`,
    stars: rating => `${rating} von 5 Sternen`,
    verified: 'Verifizierter Kauf',
    anonymous: 'Eine Kundin oder ein Kunde',
    reply: 'Antwort des Shops',
    more: 'Mehr Bewertungen anzeigen',
    write: 'Ihre Bewertung schreiben oder ändern',
    logIn: 'Anmelden, um eine Bewertung zu schreiben',
    rating: 'Sterne',
    headline: 'Titel',
    body: 'Bewertung',
    author: 'Name, den andere sehen',
    publish: 'Veröffentlichen',
    published: 'Danke. Ihre Bewertung ist veröffentlicht.',
    pending: 'Danke. Ihre Bewertung erscheint, sobald der Shop sie geprüft hat.',
    rejected: reason => `Der Shop hat Ihre Bewertung nicht veröffentlicht${reason ? `: ${reason}` : '.'}`,
    remove: 'Ihre Bewertung löschen',
    removed: 'Ihre Bewertung ist gelöscht.'
  },
  cart: {
    title: 'Warenkorb',
    empty: 'Ihr Warenkorb ist leer.',
    lookAround: 'Produkte ansehen',
    subtotal: 'Zwischensumme',
    discounts: 'Rabatte',
    total: 'Summe',
    note: 'Versand und Steuern kommen an der Kasse hinzu, weil sie von der Adresse abhängen.',
    checkout: 'Zur Kasse',
    quantityOf: name => `Menge von ${name}`,
    changed: 'Ihr Warenkorb wurde geändert.',
    soldOut: 'Ausverkauft',
    tooMany: left => `Nur noch ${left} vorrätig.`,
    unnamed: 'Ein Produkt',
    gone: 'Nicht mehr erhältlich. Es zählt nicht zur Summe.',
    removeNamed: name => `${name} entfernen`,
    removed: name => `${name} wurde entfernt.`,
    cut: 'Einige Mengen Ihrer beiden Warenkörbe wurden verringert, weil es nicht genug gibt oder der Warenkorb voll ist.'
  },
  checkout: {
    title: 'Kasse',
    contact: 'Kontakt',
    email: 'E-Mail',
    loggedInAs: email => `Sie sind als ${email} angemeldet.`,
    logIn: 'Haben Sie ein Konto? Anmelden',
    address: 'Lieferadresse',
    saved: 'Gespeicherte Adressen',
    otherAddress: 'Andere Adresse',
    saveAddress: 'Diese Adresse in meinem Konto speichern',
    delivery: 'Versand',
    deliveryUnknown: 'Die Versandarten hängen von der Adresse ab.',
    extras: 'Codes und Bemerkungen',
    note: 'Bemerkung für den Shop',
    costs: 'Kosten',
    order: 'Bestellen',
    orderFor: total => `Für ${total} kostenpflichtig bestellen`,
    priceNow: total =>
      `Die Summe beträgt jetzt ${total}. Bitte prüfen Sie sie, und bestellen Sie noch einmal.`,
    incomplete: 'Einige Angaben fehlen.',
    code: 'Gutscheincode',
    useCode: 'Anwenden',
    removeCode: code => `${code} entfernen`,
    free: 'kostenlos'
  },
  placing: {
    title: 'Ihre Bestellung wird aufgegeben',
    waiting: 'Der Shop hat noch nicht geantwortet.',
    retry: 'Noch einmal fragen',
    toCart: 'Zurück zum Warenkorb'
  },
  summary: {
    items: 'Artikel',
    discounts: 'Rabatte',
    delivery: 'Versand',
    taxes: 'Steuern',
    rounding: 'Rundung',
    total: 'Summe',
    taxOf: percent => `Enthält ${percent} % Steuer`,
    today: 'heute',
    days: ({ min, max }) => (min === max ? `${max} ${max === 1 ? 'Tag' : 'Tage'}` : `${min} bis ${max} Tage`)
  },
  orders: {
    title: 'Bestellungen',
    none: 'Sie haben noch keine Bestellungen.',
    noneKnown: 'Dieser Browser kennt keine Bestellungen. Melden Sie sich an, um die Ihres Kontos zu sehen.',
    older: 'Ältere Bestellungen anzeigen',
    guests: 'Ohne Konto in diesem Browser bestellt',
    of: date => `vom ${date}`
  },
  order: {
    title: number => `Bestellung ${number}`,
    status: {
      pending: 'Wir haben Ihre Bestellung erhalten.',
      paid: 'Ihre Bestellung ist bezahlt. Wir bereiten sie vor.',
      shipped: 'Ihre Bestellung ist unterwegs.',
      completed: 'Ihre Bestellung ist abgeschlossen.',
      canceled: 'Ihre Bestellung ist storniert.',
      canceling: 'Ihre Bestellung wird storniert.'
    },
    payment: words => `Zahlung: ${words}.`,
    payments: {
      unpaid: 'noch nicht bezahlt',
      authorized: 'autorisiert',
      partially_paid: 'teilweise bezahlt',
      paid: 'bezahlt',
      partially_refunded: 'teilweise erstattet',
      refunded: 'erstattet'
    },
    terms: { on_account: 'auf Rechnung', cod: 'bei Lieferung' },
    attempts: {
      failed: 'Die Zahlung wurde abgelehnt. Sie können es noch einmal versuchen.',
      requires_action: 'Sie müssen die Zahlung noch bestätigen.',
      canceled: 'Die Zahlung wurde abgebrochen.'
    },
    paidFirst: 'Wir bereiten Ihre Bestellung vor, sobald sie bezahlt ist.',
    payUntil: moment => `Bitte zahlen Sie bis ${moment}; danach verfällt die Bestellung.`,
    pay: amount => `${amount} bezahlen`,
    reference: reference => `Verwendungszweck: ${reference}`,
    noAnswer: 'Der Zahlungsdienst antwortet nicht. Bitte versuchen Sie es später noch einmal.',
    cancel: 'Bestellung stornieren',
    cancelQuestion: 'Diese Bestellung stornieren?',
    canceling: 'Die Bestellung wird storniert.',
    claim: 'Diese Bestellung meinem Konto hinzufügen',
    claimed: 'Diese Bestellung gehört jetzt zu Ihrem Konto.',
    delivery: 'Versand',
    parcel: 'Paket',
    parcels: {
      preparing: 'in Vorbereitung',
      pending: 'versandt',
      in_transit: 'unterwegs',
      delivered: 'zugestellt',
      returned: 'auf dem Rückweg zum Shop',
      voided: 'doch nicht versandt'
    },
    track: 'Paket verfolgen',
    refunds: 'Erstattungen',
    refunded: (amount, date) => `${amount} am ${date}`,
    link: 'Wer diesen Link hat, sieht die Bestellung. Bewahren Sie ihn auf: ',
    linkName: 'Link zur Bestellung'
  },
  guestData: {
    title: 'Ihre Daten aus Bestellungen ohne Konto',
    explanation:
      'Wir senden Ihnen einen Link, mit dem Sie herunterladen oder löschen, was wir von Ihren Bestellungen speichern.',
    email: 'E-Mail-Adresse der Bestellungen',
    action: 'Anliegen',
    actions: { export: 'Meine Daten herunterladen', erase: 'Meine Daten löschen' },
    send: 'Link senden',
    sent: email =>
      `Wenn es Bestellungen mit ${email} gibt, kommt dort in einigen Minuten eine Mail mit einem Link an.`,
    confirm: 'Anliegen bestätigen',
    done: {
      export: numbers => `Ihr Browser speichert die Daten dieser Bestellungen: ${numbers}.`,
      erase: numbers => `Ihre Daten sind aus diesen Bestellungen gelöscht: ${numbers}.`
    }
  },
  address: {
    country: 'Land',
    name: 'Name',
    company: 'Firma',
    line1: 'Straße und Hausnummer',
    line2: 'Wohnung, Stockwerk',
    postal_code: 'Postleitzahl',
    city: 'Ort',
    region: 'Bundesland, Provinz oder Region',
    phone: 'Telefon'
  },
  logIn: {
    title: 'Anmelden',
    needed: 'Bitte melden Sie sich an, um diese Seite zu sehen.',
    email: 'E-Mail',
    password: 'Passwort',
    button: 'Anmelden',
    forgotten: 'Passwort vergessen?',
    register: 'Konto anlegen',
    code: 'Code Ihrer Authenticator-App oder ein Wiederherstellungscode',
    codeTitle: 'Bestätigen Sie, dass Sie es sind',
    confirm: 'Bestätigen'
  },
  registration: {
    title: 'Konto anlegen',
    name: 'Name',
    email: 'E-Mail',
    password: 'Passwort',
    passwordHint: 'Mindestens 12 Zeichen. Gut sind einige Wörter, die keinen Satz ergeben.',
    invitation: 'Einladungscode',
    button: 'Konto anlegen',
    haveAccount: 'Ich habe schon ein Konto',
    sent: email =>
      `Wir haben eine Mail an ${email} gesandt. Bitte öffnen Sie ihren Link, um die Adresse zu bestätigen.`
  },
  verification: {
    title: 'Ihre E-Mail-Adresse',
    button: 'Adresse bestätigen',
    done: 'Danke. Ihre E-Mail-Adresse ist bestätigt.',
    missing: 'Ihre E-Mail-Adresse ist noch nicht bestätigt.',
    again: 'Mail noch einmal senden',
    sent: 'Wir haben Ihnen eine Mail gesandt. Bitte öffnen Sie ihren Link.'
  },
  password: {
    forgotten: 'Passwort vergessen?',
    explanation: 'Wir senden Ihnen einen Link, mit dem Sie ein neues Passwort setzen.',
    send: 'Link senden',
    sent: email =>
      `Wenn ${email} hier ein Konto hat, kommt dort in einigen Minuten eine Mail mit einem Link an.`,
    title: 'Neues Passwort setzen',
    new: 'Neues Passwort',
    button: 'Passwort setzen',
    done: 'Ihr Passwort ist geändert. Sie können sich damit anmelden.'
  },
  account: {
    title: 'Ihr Konto',
    profile: 'Profil',
    name: 'Name',
    phone: 'Telefon, mit Landesvorwahl',
    marketing: 'Senden Sie mir Neuigkeiten und Angebote per E-Mail',
    email: 'E-Mail-Adresse',
    newEmail: 'Neue E-Mail-Adresse',
    present: 'Jetziges Passwort',
    changeEmail: 'Adresse ändern',
    emailSent: email =>
      `Wir haben eine Mail an ${email} gesandt. Die Adresse ändert sich, sobald Sie ihren Link öffnen.`,
    password: 'Passwort',
    newPassword: 'Neues Passwort',
    changePassword: 'Passwort ändern',
    passwordChanged: 'Ihr Passwort ist geändert. Alle anderen Geräte sind abgemeldet.',
    sessions: 'Geräte',
    thisDevice: 'dieses Gerät',
    otherDevice: 'Ein anderes Gerät',
    lastUsed: moment => `zuletzt benutzt ${moment}`,
    endSession: 'Abmelden',
    endSessionOf: device => `${device} abmelden`,
    sessionEnded: 'Das Gerät ist abgemeldet.',
    data: 'Ihre Daten',
    download: 'Ihre Daten herunterladen',
    logOut: 'Abmelden',
    loggedOut: 'Sie sind abgemeldet.',
    remove: 'Konto löschen'
  },
  addresses: {
    title: 'Adressen',
    none: 'Sie haben keine gespeicherten Adressen.',
    add: 'Adresse hinzufügen',
    new: 'Neue Adresse',
    change: 'Ändern',
    changeTitle: 'Adresse ändern',
    defaultShipping: 'Standard für Lieferungen',
    defaultBilling: 'Standard für Rechnungen',
    removeOf: name => `Adresse von ${name} entfernen`,
    removed: 'Die Adresse ist entfernt.'
  },
  deletion: {
    title: 'Konto löschen',
    explanation:
      'Ihr Konto mit Adressen, Warenkörben und Anmeldungen wird sofort gelöscht. Von Ihren Bestellungen bleiben nur die Beträge, ohne Ihren Namen. Das lässt sich nicht rückgängig machen.',
    password: 'Ihr Passwort',
    button: 'Konto endgültig löschen',
    done: 'Ihr Konto ist gelöscht.'
  },
  errors: {
    AUTH_ADDRESS_LIMIT: 'Mehr Adressen können nicht gespeichert werden. Bitte entfernen Sie zuerst eine.',
    AUTH_ADDRESS_NOT_FOUND: 'Diese Adresse wurde in einem anderen Fenster entfernt.',
    AUTH_ADDRESS_STALE:
      'Diese Adresse wurde in einem anderen Fenster geändert. Bitte laden Sie die Seite neu.',
    AUTH_CHALLENGE_ENDED:
      'Das hat zu lange gedauert oder ist zu oft misslungen. Bitte melden Sie sich noch einmal an.',
    AUTH_EMAIL_DOMAIN_NOT_ALLOWED: 'E-Mail-Adressen dieser Domain können sich hier nicht registrieren.',
    AUTH_EMAIL_NOT_VERIFIED:
      'Bitte bestätigen Sie zuerst Ihre E-Mail-Adresse. Wir haben Ihnen noch eine Mail gesandt.',
    AUTH_EMAIL_TAKEN: 'Mit dieser E-Mail-Adresse gibt es schon ein Konto. Bitte melden Sie sich an.',
    AUTH_EMAIL_VERIFIED: 'Ihre E-Mail-Adresse ist schon bestätigt.',
    AUTH_INVALID_CREDENTIALS: 'Die E-Mail-Adresse oder das Passwort ist falsch.',
    AUTH_INVITATION_REQUIRED: 'Dieser Shop verlangt einen gültigen Einladungscode.',
    AUTH_LAST_ADMIN: 'Dies ist das letzte Administratorkonto. Es kann nicht gelöscht werden.',
    AUTH_ONE_TIME_TOKEN_INVALID:
      'Dieser Link gilt nicht mehr. Bitte nehmen Sie die neueste Mail, oder fordern Sie eine weitere an.',
    AUTH_REGISTRATION_CLOSED: 'Dieser Shop nimmt keine Registrierungen an.',
    AUTH_SECOND_FACTOR_INVALID:
      'Der Code ist falsch oder zu alt. Bitte geben Sie den ein, den die App jetzt zeigt.',
    AUTH_TOO_MANY_MESSAGES: 'Wir haben schon mehrere Mails gesandt. Bitte sehen Sie auch unter Spam nach.',
    CART_CHANGED: 'Ihr Warenkorb hat sich inzwischen geändert. Bitte prüfen Sie ihn.',
    CART_EMPTY: 'Ihr Warenkorb ist leer. Vielleicht haben Sie in einem anderen Fenster bestellt.',
    CART_LINE_LIMIT: 'Ihr Warenkorb ist voll. Es passt kein weiteres Produkt hinein.',
    CART_LINE_NOT_FOUND:
      'Dieses Produkt ist nicht mehr in Ihrem Warenkorb. Vielleicht haben Sie es in einem anderen Fenster entfernt.',
    CART_VARIANT_UNAVAILABLE: 'Dieses Produkt wird zurzeit nicht verkauft.',
    CATALOG_PRODUCT_NOT_FOUND: 'Dieses Produkt wird hier nicht oder nicht mehr verkauft.',
    CATALOG_VARIANT_NOT_FOUND: 'Dieses Produkt wird hier nicht oder nicht mehr verkauft.',
    CHECKOUT_CODES_LIMITED: 'Zu viele unbekannte Codes. Bitte warten Sie kurz, oder bestellen Sie ohne Code.',
    INVALID_CURSOR: 'Diese Seite der Liste gibt es nicht mehr. Bitte beginnen Sie mit der ersten.',
    INVENTORY_SHORT: 'Von diesem Produkt ist nicht genug vorrätig.',
    ORDER_DATA_REQUEST_INVALID: 'Dieser Link gilt nicht mehr. Bitte fordern Sie einen weiteren an.',
    ORDER_NOT_CANCELABLE: 'Diese Bestellung kann nicht mehr storniert werden.',
    ORDER_NOT_FOUND: 'Diese Bestellung gibt es nicht, oder ihr Link ist unvollständig.',
    ORDER_PENDING_LIMIT:
      'Mehrere Ihrer Bestellungen sind unbezahlt. Bitte bezahlen oder stornieren Sie zuerst eine.',
    ORDER_PRICE_CHANGED: 'Der Preis hat sich geändert. Bitte prüfen Sie ihn, bevor Sie bestellen.',
    ORDER_STILL_OPEN:
      'Einige Ihrer Bestellungen sind noch nicht abgeschlossen. Stornieren Sie sie, oder warten Sie ab.',
    ORDER_UNPAID_STOCK_LIMIT:
      'Ihre unbezahlten Bestellungen halten zu viel Ware zurück. Bitte bezahlen oder stornieren Sie eine, oder zahlen Sie mit Karte.',
    PAYMENT_ATTEMPTS_LIMITED:
      'Zu viele Zahlungen sind fehlgeschlagen. Bitte warten Sie, oder wählen Sie eine andere Zahlungsart.',
    PAYMENT_NOTHING_DUE: 'Es ist nichts mehr zu bezahlen.',
    PAYMENT_OPERATION_OPEN:
      'Die Zahlung wird bearbeitet. Bitte versuchen Sie es in einigen Sekunden noch einmal.',
    PAYMENT_ORDER_FROZEN: 'Die Bestellung wird storniert und kann deshalb nicht bezahlt werden.',
    REVIEW_EXISTS: 'Sie haben dieses Produkt schon bewertet. Bitte laden Sie die Seite neu.',
    REVIEW_PURCHASE_NEEDED: 'Nur wer dieses Produkt gekauft hat, kann es bewerten.',
    SHIPPING_NOT_AVAILABLE: 'Diese Versandart liefert nicht dorthin. Bitte wählen Sie eine andere.'
  },
  failures: {
    page: 'Diese Seite hat einen Fehler.',
    loggedOut: 'Ihre Sitzung ist beendet. Bitte melden Sie sich noch einmal an.',
    unreachable: 'Der Shop ist nicht erreichbar. Bitte versuchen Sie es noch einmal.',
    maintenance: 'Der Shop wird gewartet. Bitte kommen Sie später wieder.',
    limited: 'Zu viele Anfragen. Bitte warten Sie einen Moment.',
    stock: available => `Nur noch ${available} vorrätig.`,
    limit: limit => `Höchstens ${limit} auf einmal.`,
    other: 'Das hat nicht geklappt. Bitte versuchen Sie es noch einmal.',
    field: (field, message) => `${field} ${message}`,
    left: available => `Noch ${available} vorrätig.`
  },
  findings: {
    VARIANT_UNAVAILABLE: 'Dieses Produkt wird nicht mehr verkauft.',
    VARIANT_NOT_IN_MARKET: 'Dieses Produkt wird in diesem Land oder dieser Währung nicht verkauft.',
    QUANTITY_RULE: 'Dieses Produkt wird in anderen Mengen verkauft.',
    STOCK_SHORT: 'Von diesem Produkt ist nicht genug vorrätig.',
    CART_CHANGED: 'Ihr Warenkorb hat sich geändert.',
    PRICE_CHANGED: 'Der Preis hat sich geändert.',
    MARKET_GONE: 'Der gewählte Markt ist geschlossen. Dies sind die Preise eines anderen.',
    MARKET_DESTINATION:
      'Der gewählte Markt liefert nicht in dieses Land. Dies sind die Preise des Markts, der es tut.',
    EMAIL_MISSING: 'Eine E-Mail-Adresse fehlt.',
    EMAIL_INVALID: 'Das ist keine E-Mail-Adresse.',
    ADDRESS_MISSING: 'Eine Adresse fehlt.',
    ADDRESS_INVALID: 'Die Adresse ist unvollständig.',
    DELIVERY_NOT_INCLUDED: 'Der Versand ist in diesem Preis nicht enthalten.',
    ORDER_NOT_ALLOWED: 'Dieser Einkauf ist nicht erlaubt.',
    ORDER_CHECK_UNAVAILABLE:
      'Dieser Einkauf konnte nicht geprüft werden. Er wird beim Bestellen noch einmal geprüft.',
    SHIPPING_DESTINATION_MISSING: 'Die Versandarten hängen von der Adresse ab.',
    SHIPPING_NOT_AVAILABLE: 'An diese Adresse wird nicht geliefert.',
    SHIPPING_CHOICE_GONE:
      'Die gewählte Versandart wird nicht mehr angeboten. Der Preis enthält die günstigste.',
    CODE_UNKNOWN: 'Diesen Code gibt es nicht.',
    CODE_NOT_STARTED: 'Dieser Code gilt noch nicht.',
    CODE_EXPIRED: 'Dieser Code ist abgelaufen.',
    CODE_NOT_IN_MARKET: 'Dieser Code gilt in diesem Markt nicht.',
    CODE_NOT_FOR_CUSTOMER: 'Dieser Code gilt nicht für Sie.',
    CODE_FIRST_ORDER_ONLY: 'Dieser Code gilt nur für eine erste Bestellung.',
    CODE_USED_UP: 'Dieser Code ist aufgebraucht.',
    CODE_CUSTOMER_LIMIT: 'Sie haben diesen Code so oft benutzt, wie Sie dürfen.',
    CODE_NO_MATCHING_LINE: 'Dieser Code gilt nicht für diese Produkte.',
    CODE_MINIMUM: 'Dieser Code braucht einen größeren Warenkorb.',
    CODE_NEEDS_DESTINATION: 'Dieser Code hängt von der Adresse ab.',
    CODE_NOT_FOR_SHIPPING_METHOD: 'Dieser Code gilt nicht für diese Versandart.',
    CODE_NOT_COMBINABLE: 'Dieser Code lässt sich nicht mit einem anderen verbinden.',
    CODE_NO_EFFECT: 'Dieser Code ändert hier nichts.'
  },
  faults: [
    [/^is required$/, 'fehlt'],
    [/^must not be empty$/, 'fehlt'],
    [/^must be an e-mail address.*$/, 'ist keine E-Mail-Adresse'],
    [/^must be at least (\d+) characters? long$/, 'braucht mindestens $1 Zeichen'],
    [/^must be at most (\d+) characters? long$/, 'darf höchstens $1 Zeichen haben'],
    [/^must be a postal code of (\w+)$/, 'ist keine Postleitzahl von $1'],
    [/^has an account here already$/, 'hat hier schon ein Konto'],
    [/^must be an address of a domain .*$/, 'ist von einer Domain, die sich hier nicht registrieren kann'],
    [/^must be a code that is .*$/, 'ist kein gültiger Code'],
    [/^must be a phone number with .*$/, 'braucht + und die Landesvorwahl'],
    [/^must be a name, and no e-mail address$/, 'darf keine E-Mail-Adresse sein'],
    [/^must be (one line of )?text that can be seen.*$/, 'darf keine unsichtbaren Zeichen haben'],
    [/^must be one line.*$/, 'darf nur eine Zeile haben'],
    [
      /^must be a phone number of .*$/,
      'ist keine Telefonnummer dieses Landes; beginnen Sie sonst mit + und der Vorwahl'
    ],
    [/^must be a VAT id.*$/, 'ist keine Umsatzsteuer-Id'],
    [/^must be a (smaller )?region .*$/, 'ist keine Region dieses Landes'],
    [/^must not be a common password$/, 'darf kein häufiges Passwort sein'],
    [/^must not repeat the same characters$/, 'darf nicht dieselben Zeichen wiederholen'],
    [/^must not be a sequence of .*$/, 'darf keine Reihe von Buchstaben, Ziffern oder Tasten sein'],
    [
      /^must not contain the name in your e-mail address$/,
      'darf den Namen aus Ihrer E-Mail-Adresse nicht enthalten'
    ],
    [/^must not contain the name of the shop$/, 'darf den Namen des Shops nicht enthalten'],
    [/^must be your current password$/, 'ist nicht Ihr jetziges Passwort']
  ]
}

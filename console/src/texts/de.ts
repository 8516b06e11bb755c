// The texts of the page in German. Buttons are infinitives; a sentence that addresses somebody says
// Sie. One word for one thing: Bucket, Schlüssel, Link, Ordner, Eintrag (a file or a folder),
// frühere Version, Eigentümer, Mitglied, Empfänger, Briefkasten (drop box), Kontingent (quota),
// Dienst (service), Front, Cycles. Löschen can be undone; endgültig löschen (erase) cannot.

import type { Texts } from './en.ts';
import { numberIn } from './formats.ts';

const number = numberIn('de');

function counted(count: number, singular: string, plural: string): string {
  if (count === 0) return `keine ${plural}`;
  return `${number(count)} ${count === 1 ? singular : plural}`;
}

const files = (count: number) => counted(count, 'Datei', 'Dateien');
const entries = (count: number) => counted(count, 'Eintrag', 'Einträge');
const buckets = (count: number) =>
  count === 0 ? 'keinem Bucket' : counted(count, 'Bucket', 'Buckets');
const days = (count: number) => (count === 0 ? 'keinen Tag' : counted(count, 'Tag', 'Tage'));
const uploads = (count: number) => counted(count, 'Upload', 'Uploads');
const lacking = (count: number) => `Im Zip ${count === 1 ? 'fehlt' : 'fehlen'} ${files(count)}`;
const named = (name: string) => `„${name}“`;
const chosen = (name: string | undefined, count: number) =>
  name === undefined ? entries(count) : named(name);

/** Begins a sentence. */
const capital = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1);

export const texts: Texts = {
  direction: 'ltr',
  page: {
    name: 'Dateien',
    language: 'Sprache',
    needsJavaScript: 'Für diese Seite muss JavaScript eingeschaltet sein.',
    skip: 'Zum Inhalt springen',
    signOut: 'Abmelden',
    oneMoment: 'Einen Moment …',
    loading: 'Wird geladen …',
    unloaded: 'Ein Teil der Seite wurde nicht geladen, vielleicht weil der Dienst neuer ist.',
    tryAgain: 'Erneut versuchen',
    cancel: 'Abbrechen',
    close: 'Schließen',
    remove: 'Entfernen',
    add: 'Hinzufügen',
    added: 'Hinzugefügt.',
    saved: 'Gespeichert.',
    changing: 'Wird geändert …',
    undo: 'Rückgängig',
    notices: 'Meldungen',
    dismiss: 'Meldung schließen',
    busy: (soon) => `Der Dienst ist ausgelastet: neuer Versuch ${soon}.`,
  },
  words: {
    bytes: (count) => `${count} Byte`,
    days,
    moreThanTenYears: 'mehr als zehn Jahre',
    justNow: 'gerade eben',
    onDate: (date) => `am ${date}`,
    noExpiry: 'läuft nicht ab',
    expired: 'ist abgelaufen',
    expires: (soon) => `läuft ${soon} ab`,
    of: (part, whole) => `${part} von ${whole}`,
    kinds: {
      image: 'Bild',
      video: 'Video',
      audio: 'Audio',
      pdf: 'PDF',
      markdown: 'Markdown',
      web: 'Webseite',
      text: 'Text',
      json: 'JSON',
      archive: 'Archiv',
      file: 'Datei',
    },
  },
  failures: {
    byCode: {
      NetworkError:
        'Der Dienst ist nicht erreichbar. Prüfen Sie die Verbindung und versuchen Sie es erneut.',
      Timeout: 'Der Dienst hat nicht rechtzeitig geantwortet. Versuchen Sie es gleich noch einmal.',
      Unauthorized: 'Dafür ist ein Schlüssel nötig. Melden Sie sich erneut an.',
      InvalidApiKey:
        'Der Schlüssel ist unbekannt, abgelaufen oder widerrufen. Bitten Sie einen Eigentümer des ' +
        'Buckets um einen anderen.',
      NoSuchBucket:
        'Der Bucket existiert nicht, oder Sie haben keinen Zugriff darauf. Ein Eigentümer kann Sie als ' +
        'Mitglied hinzufügen.',
      NoSuchFile: 'Die Datei existiert nicht mehr: Jemand hat sie verschoben oder gelöscht.',
      PreconditionFailed:
        'Die Datei wurde inzwischen geändert. Sehen Sie sie sich an, bevor Sie fortfahren.',
      FileHeld:
        'Eine Aufbewahrung oder rechtliche Sperre schützt die Datei: Sie kann weder ersetzt noch ' +
        'gelöscht, verschoben oder geändert werden. Ihre Seite zeigt, bis wann.',
      QuotaExceeded:
        'Der Bucket ist voll. Löschen Sie Dateien, oder bitten Sie einen Eigentümer um ein größeres ' +
        'Kontingent.',
      UploadExpired: 'Der Upload war zu lange inaktiv und ist abgelaufen. Starten Sie ihn neu.',
      IntegrityError:
        'Die empfangenen Bytes weichen von den gespeicherten ab. Versuchen Sie es erneut.',
      HttpError: 'Die Antwort kam nicht vom Dienst. Versuchen Sie es gleich noch einmal.',
      ExpiredIdentity: 'Die Anmeldung ist abgelaufen. Melden Sie sich erneut an.',
      BucketExists:
        'Ein Bucket mit diesem Namen existiert bereits. Wählen Sie einen anderen Namen.',
      BucketNotEmpty: 'Der Bucket enthält Dateien. Löschen Sie sie zuerst.',
    },
    signInUncompleted:
      'Die Anmeldung wurde nicht abgeschlossen. Erlauben Sie, dass sich ihr Fenster öffnet, und ' +
      'versuchen Sie es erneut.',
    keyIncomplete: 'Der Schlüssel in der Adresse ist unvollständig. Kopieren Sie ihn noch einmal.',
    ownerNotLocal:
      'Die Adresse eines Eigentümers funktioniert nur auf einer lokalen Replica. Melden Sie sich ' +
      'stattdessen an.',
    noVolume:
      'Dieser Dienst hat noch kein Volume. Ein Controller der Front kann eines mit der Methode ' +
      'addVolume hinzufügen.',
    notOpened:
      'Diese Sitzung kann die Ende-zu-Ende-verschlüsselte Datei nicht entschlüsseln. Melden Sie ' +
      'sich mit der Identität eines Mitglieds an, oder laden Sie die Datei herunter und ' +
      'entschlüsseln Sie sie mit age und einer age-Identität.',
    fileThereAgain: 'Die Datei existiert wieder. Öffnen Sie sie, um ihre Versionen zu sehen.',
    folderExists: (name) =>
      `Der Ordner ${named(name)} existiert bereits. Wählen Sie einen anderen Namen.`,
    fileExists: (name) =>
      `Die Datei ${named(name)} existiert bereits. Wählen Sie einen anderen Namen.`,
    nameTaken: 'Eine Datei mit diesem Namen existiert bereits.',
    nameEmpty: 'Der Name ist leer. Geben Sie einen Namen ein.',
    nameWithSlash:
      'Ein Name darf kein „/“ enthalten. Um den Ordner zu wechseln, wählen Sie „Verschieben“.',
    notMoved: (count, reason) => `${files(count)} nicht verschoben: ${reason}`,
    notDeleted: (name, reason) => `${named(name)} wurde nicht gelöscht: ${reason}`,
    intoItself: {
      move: 'Ein Ordner kann nicht in sich selbst verschoben werden.',
      copy: 'Ein Ordner kann nicht in sich selbst kopiert werden.',
    },
    passage: (sealed, from, to) =>
      `Der Bucket ${sealed} ist Ende-zu-Ende-verschlüsselt, daher kann der Dienst keine Dateien ` +
      `zwischen ${from} und ${to} verschieben oder kopieren: Laden Sie die Dateien herunter, und ` +
      `laden Sie sie in ${to} hoch.`,
  },
  copying: {
    copy: 'Kopieren',
    copied: 'Kopiert',
    isCopied: 'Kopiert.',
    refused:
      'Der Browser lässt diese Seite nicht kopieren: Markieren Sie den Text und kopieren Sie ihn.',
    command: 'Befehl kopieren',
    theCommand: (command) => `Befehl kopieren: ${command}`,
    ownersCommand: 'Befehl für einen Eigentümer kopieren',
    principal: 'Mitglieds-ID kopieren',
    key: 'Schlüssel kopieren',
    recipient: 'Empfänger kopieren',
    address: 'Adresse kopieren',
    publicAddress: 'Öffentliche Adresse kopieren',
    link: 'Link kopieren',
    addressPicture: 'Die Adresse als QR-Code',
    linkPicture: 'Der Link als QR-Code',
  },
  expiry: {
    label: 'Gültig für',
    day: 'einen Tag',
    week: 'eine Woche',
    month: '30 Tage',
    none: 'unbegrenzte Zeit',
  },
  signIn: {
    title: 'Anmelden',
    purpose: 'Dateien ansehen, hochladen und teilen.',
    stay: 'Auf diesem Gerät angemeldet bleiben',
    withKey: 'Mit einem Schlüssel',
    apiKey: 'API-Schlüssel',
    keyHint:
      'Er beginnt mit efs_. Eigentümer erstellen Schlüssel in den Einstellungen eines Buckets.',
    bucket: 'Bucket',
    byKey: 'Mit dem Schlüssel anmelden',
    underWay: 'Anmeldung läuft …',
    withIdentity: 'Mit einer Identität',
    identity:
      'Ein Schlüssel, der dieses Gerät nie verlässt, signiert für Sie. Ein Eigentümer muss Sie ' +
      'einmal zu einem Bucket hinzufügen, mit einem Befehl, den diese Seite Ihnen zeigt.',
    byDevice: 'Schlüssel dieses Geräts verwenden',
    byInternetIdentity: 'Internet Identity verwenden',
  },
  askedKey: {
    title: 'In diesem Tab einen anderen Schlüssel verwenden?',
    question: (isOwners, bucket) =>
      'Sie sind bereits angemeldet. Die Adresse, die Sie geöffnet haben, enthält ' +
      `${isOwners ? 'den Schlüssel eines Eigentümers' : 'einen API-Schlüssel'}` +
      `${bucket && ` für den Bucket ${bucket}`}. ` +
      'Wer Ihnen die Adresse geschickt hat, kann vielleicht lesen, was Sie mit diesem Schlüssel ' +
      'hochladen. Er gilt nur in diesem Tab; in anderen bleiben Sie angemeldet wie bisher.',
    stay: 'Angemeldet bleiben wie bisher',
    use: 'Schlüssel in diesem Tab verwenden',
  },
  overview: {
    title: 'Ihre Buckets',
    loading: 'Ihre Buckets werden geladen …',
    amount: (count, size) => `${capital(files(count))}, ${size}`,
    unknown: 'Öffnen, um die Dateien zu sehen.',
    readers: (isPublic, isEndToEnd) =>
      (isPublic ? 'Alle dürfen ihn lesen' : 'Privat') +
      (isEndToEnd ? ', Ende-zu-Ende-verschlüsselt' : ''),
    shareOfQuota: (percent, quota) => `${percent} % von ${quota}`,
    none:
      'Sie haben noch keinen Bucket. Bitten Sie den Eigentümer eines Buckets, Sie mit dem Befehl ' +
      'unten hinzuzufügen, oder erstellen Sie einen eigenen.',
    device: 'Mitglieds-ID dieses Geräts',
    you: 'Ihre Mitglieds-ID',
    command:
      'Der Eigentümer eines Buckets fügt Sie mit dieser ID hinzu, in den Einstellungen oder mit ' +
      'diesem Befehl und dem Namen des Buckets:',
  },
  addBucket: {
    open: 'Weiteren Bucket öffnen',
    create: 'Bucket erstellen',
    name: 'Name des Buckets',
    hint: '1 bis 64 Buchstaben, Ziffern und Bindestriche, etwa urlaubs-fotos.',
    keep: (count) => `Gelöschte und ersetzte Dateien ${days(count)} lang aufbewahren`,
    isPublic: 'Alle dürfen seine Dateien lesen',
    endToEnd: 'Ende-zu-Ende: Dateien werden vor dem Senden verschlüsselt',
    sealsNames: 'Auch die Dateinamen verschlüsseln',
    noRight: 'Sie dürfen hier keine Buckets erstellen.',
    command: 'Wer den Dienst betreibt, kann es mit diesem Befehl erlauben:',
  },
  state: {
    title: 'Der Dienst',
    service: 'Dienst',
    files: 'Dateien',
    share: (percent) => `Dateien belegen ${percent} % des Speichers`,
    amount: (fileCount, bucketCount, memory) =>
      `${capital(files(fileCount))} in ${buckets(bucketCount)}; ${memory} Speicher samt Metadaten ` +
      'und Programm',
    cost: 'Kosten der Speicherung',
    lessThanCent: 'weniger als ein Cent',
    cents: (count) => `${number(count)} Cent`,
    dollars: (amount) => `${amount} Dollar`,
    perMonth: 'im Monat, ungefähr, für die jetzigen Daten; Lesen ist kostenlos',
    paid: 'Bezahlt für',
    yearPaid: 'Ein ganzes Jahr ist bezahlt',
    partPaid: (time) => `Von einem Jahr bezahlt: ${time}`,
    enough:
      'Speicherung, ohne Uploads. Danach ist der Dienst erst wieder benutzbar, wenn jemand ' +
      'nachzahlt.',
    seeService: '„Dienst“ zeigt den Befehl.',
    encryption: 'Verschlüsselung',
    version: (version) => `Version ${version}`,
    keyFetched: 'Der Schlüssel wird geholt',
    rotating: 'Aktiv; die Schlüssel werden gewechselt',
    keyStored: 'Aktiv, mit einem Schlüssel, den der Dienst speichert',
    keyDerived: 'Aktiv, mit einem Schlüssel, den das Netzwerk ableitet',
  },
  service: {
    title: 'Dienst',
    again: 'Erneut prüfen',
    checking: 'Wird geprüft …',
    nobody: 'Es ist nichts zu tun.',
    somebody: (count) =>
      `Es ist etwas zu tun: ${counted(count, 'Punkt', 'Punkte')} in Rot, mit dem Befehl.`,
    states: { fine: 'In Ordnung', wait: 'Abwarten', unseen: 'Nicht sichtbar', act: 'Zu tun' },
  },
  checks: {
    room: {
      title: 'Platz',
      filesFull:
        'Der Speicher für Dateien ist fast voll. Löschen Sie Dateien oder frühere Versionen: Der ' +
        'Platz wird wiederverwendet.',
      programFull: 'Der Speicher des Programms ist fast voll. Ein Upgrade leert ihn.',
      whole: (size) => `Grenze ${size}`,
      forFiles: (used, whole) => `${used} von ${whole} für Dateien`,
      limit: (used, whole) =>
        `${used} von ${whole} für Dateien, der Grenze des Netzwerks für einen Canister.`,
      engine: (used) => `${used} für Dateien, Grenze unbekannt.`,
      reserved: (cycles, limit) =>
        `Das Netzwerk behält ${cycles} Cycles für das Wachstum ein, weil das Subnetz wenig Platz hat. ` +
        `Bei ${limit} kann der Canister nicht mehr wachsen.`,
      forProgram: (used, whole) => `${used} von ${whole} für das Programm, während es läuft.`,
      bucketFull: (bucket, used, quota) =>
        `Der Bucket ${named(bucket)} ist fast voll: ${used} von ${quota}. Löschen Sie Dateien, oder ` +
        'erhöhen Sie sein Kontingent.',
      bucketFilesFull: (bucket, count, quota) =>
        `Der Bucket ${named(bucket)} ist fast voll: ${number(count)} von ${files(quota)}. ` +
        'Löschen Sie Dateien, oder erhöhen Sie sein Kontingent.',
    },
    cycles: {
      title: 'Cycles',
      unseen: 'Nur Controller und Eigentümer von Buckets sehen die Cycles.',
      free: 'Der Dienst braucht keine Cycles: Sein Subnetz berechnet nichts.',
      soon:
        'Füllen Sie bald Cycles nach: Ohne sie friert der Canister ein, und ein Upgrade braucht ' +
        '0,31 T über der Reserve.',
      now:
        'Füllen Sie jetzt Cycles nach: Der Canister nimmt keine Uploads an und antwortet bald ' +
        'niemandem mehr.',
      enough: (cycles, time) =>
        `${cycles} Cycles, mit denen der Dienst das Netzwerk bezahlt: genug für ${time} ` +
        'Speicherung, ohne Uploads.',
      reserve: (count, cycles) =>
        `Der Canister friert unterhalb einer Reserve für ${days(count)} ein, zurzeit ${cycles}. Eine ` +
        'längere Einfrierschwelle erhöht die Reserve.',
      share: (time) => `Reicht für ${time}`,
      year: 'voll bei einem Jahr',
    },
    requests: {
      title: 'Anfragen und Ablehnungen',
      unseen: 'Diese Version des Dienstes meldet keine Budgets.',
      flood:
        'Viele Anfragende ohne Berechtigung werden abgelehnt, weitere kostenlos. Es ist nichts zu tun.',
      notAllowed: (subject) => `${subject}: nicht erlaubt.`,
      budget: (subject, left, burst, perMinute) =>
        `${subject}: noch ${number(left)} von ${number(burst)}, jede Minute ${number(perMinute)} mehr.`,
      anonymous: 'Anfragen ohne Schlüssel',
      links: 'Anfragen über Links',
      refusals: 'Abgelehnte Anfragen',
      moreAnonymous:
        'Manche Anfragen ohne Schlüssel werden abgelehnt. Wenn sie erwünscht sind, erlauben Sie mehr.',
      moreLinks:
        'Manche Anfragen über Links werden abgelehnt. Wenn sie erwünscht sind, erlauben Sie mehr.',
    },
    derivations: {
      title: 'Schlüssel von Ende-zu-Ende-Buckets',
      unseen: 'Diese Version des Dienstes meldet kein Budget für Ableitungen.',
      derivations: 'Ableitungen',
      more:
        'Neue Mitglieder von Ende-zu-Ende-Buckets müssen auf ihre Schlüssel warten. Wenn sie ' +
        'erwünscht sind, erlauben Sie mehr.',
    },
    encryption: {
      title: 'Verschlüsselung',
      continues: 'Das läuft von selbst weiter, während der Dienst läuft.',
      late: 'Der Schlüssel fehlt seit einer Minute. Das Protokoll des Canisters nennt den Grund.',
    },
    uploads: {
      title: 'Laufende Uploads',
      unseen:
        'Eigentümer eines Buckets, die sich mit einer Identität anmelden, sehen seine Uploads.',
      none: 'Keine Uploads in den Buckets, die Ihnen gehören.',
      ends: 'Ein Upload endet von selbst einen Tag, nachdem sein letzter Teil eingetroffen ist.',
      count: uploads,
      held: (count, size, begun, idleCount) =>
        `${uploads(count)} mit ${size}, der älteste hat ${begun} begonnen` +
        (idleCount === 0 ? '' : `; ${number(idleCount)} seit über einer Stunde inaktiv`),
      idle: (bucket) =>
        `Inaktive Uploads lassen keinen Platz im Bucket ${named(bucket)}. Brechen Sie sie auf seiner ` +
        'Seite oder über ihre ID ab.',
    },
    silent: {
      title: 'Volume nicht erreichbar',
      sentence: (id: string) =>
        `Das Volume ${id} antwortet nicht, daher fehlen hier seine Buckets.`,
    },
    front: {
      title: 'Front',
      present: 'Diese Seite kommt von der Front, die alle ihre Antworten zertifiziert.',
      absent:
        'Der Canister hat keine Front, daher öffnet diese Seite keine Dateien aus Ende-zu-Ende-Buckets.',
    },
  },
  tabs: { files: 'Dateien', deleted: 'Gelöscht', activity: 'Verlauf', bucket: 'Einstellungen' },
  files: {
    folders: 'Ordner',
    buckets: 'Buckets',
    newFolder: 'Neuer Ordner',
    pictures: 'Bilder anzeigen',
    noPictures: 'Bilder ausblenden',
    more: 'Weitere Aktionen',
    receive: 'Briefkasten',
    shareFolder: 'Ordner teilen',
    upload: 'Hochladen',
    uploadFolder: 'Ordner hochladen',
    drop: (place) => `Zum Hochladen in ${place} hier ablegen`,
    pasted: (time) => `eingefügt ${time}`,
    filter: 'Nach Namen filtern, oder nach Namen oder #Tag suchen',
    search: 'Suchen',
    searchBucket: 'Im Bucket suchen',
    clearSearch: 'Suche beenden',
    choose: 'Dateien auswählen',
    searchFolder: 'In diesem Ordner suchen',
    empty: 'Hier ist noch nichts.',
    emptyForWriters: 'Hier ist noch nichts. Dateien oder Ordner hier ablegen oder auswählen.',
    notFound: 'Nichts gefunden.',
    searching: (read, found) => `Suche läuft: ${files(read)} gelesen, ${number(found)} gefunden …`,
    part: (count) => `Bisher ${entries(count)}`,
    sortedPart: (count) => `Bisher ${entries(count)}, unter diesen sortiert`,
    found: (count, among) => `${capital(files(count))} unter ${files(among)} gefunden`,
    count: (count) => capital(files(count)),
    countWithFolders: (folderCount, fileCount) =>
      `${capital(counted(folderCount, 'Ordner', 'Ordner'))}, ${files(fileCount)}`,
  },
  grid: {
    isProtected: 'Durch Aufbewahrung oder rechtliche Sperre geschützt',
    label: 'Dateien',
    selectAll: 'Alle auswählen',
    name: 'Name',
    size: 'Größe',
    changed: 'Geändert',
    folder: 'Ordner',
    select: (name) => `${name} auswählen`,
    actionsFor: (name) => `Aktionen für ${name}`,
    actions: 'Aktionen',
    newName: (name) => `Neuer Name für ${name}`,
  },
  shortcuts: {
    title: 'Tastatur',
    rows: [
      ['↑ ↓', 'durch die Dateien gehen; mit Umschalttaste auswählen'],
      ['Leertaste', 'auswählen'],
      ['Eingabe', 'öffnen'],
      ['Strg A', 'alle auswählen'],
      ['F2', 'ausgewählte Datei umbenennen'],
      ['Entf', 'ausgewählte Dateien löschen'],
      ['Esc', 'Auswahl aufheben'],
      ['/', 'zum Filter gehen'],
      ['?', 'diese Hilfe'],
    ],
  },
  selection: {
    label: 'Ausgewählte Dateien',
    count: (count) => `${number(count)} ausgewählt`,
    clear: 'Auswahl aufheben',
    download: 'Herunterladen',
    preparing: 'Wird vorbereitet …',
    stop: 'Abbrechen',
    share: 'Teilen',
    rename: 'Umbenennen',
    move: 'Verschieben',
    copy: 'Kopieren',
    delete: 'Löschen',
    zipped: (count, name) => `${entries(count)} als ${name} heruntergeladen.`,
  },
  deletion: {
    title: (name, count) => `${chosen(name, count)} löschen?`,
    delete: 'Löschen',
    underWay: 'Wird gelöscht …',
    amount: (count, size) => ` (${files(count)}, ${size})`,
    question: (name, count, amount, bucket) =>
      `${chosen(name, count)}${amount} ${count === 1 ? 'wird' : 'werden'} aus ${bucket} gelöscht.`,
    canUndo: 'Der Bucket bewahrt frühere Versionen auf: Sie können das rückgängig machen.',
    isFinal: 'Das lässt sich nicht rückgängig machen.',
    done: (count) => `${capital(files(count))} gelöscht.`,
    undone: (count) => `${capital(files(count))} wiederhergestellt.`,
  },
  moving: {
    moveTitle: (name, count) => `${chosen(name, count)} verschieben`,
    copyTitle: (name, count) => `${chosen(name, count)} kopieren`,
    moveTo: (name, count, place) => `${chosen(name, count)} nach ${place} verschieben`,
    copyTo: (name, count, place) => `${chosen(name, count)} nach ${place} kopieren`,
    soFar: (count) => `Bisher ${files(count)}`,
    movingNow: 'Wird verschoben …',
    copyingNow: 'Wird kopiert …',
    newFolder: 'Neuer Ordner darin',
    newFolderHint: 'Zum Beispiel 2026/sommer. Leer lassen, um den gewählten Ordner zu verwenden.',
    differs: (bucket) =>
      `Die Einstellungen von ${bucket} sind andere als bisher gezeigt. Prüfen Sie sie vor einem ` +
      'neuen Versuch.',
    becomesPublic: (bucket) =>
      `Der Bucket ${bucket} ist öffentlich: Alle können die Dateien dort lesen.`,
    linksEnd: (bucket) => `Links auf die Dateien enden, wenn die Dateien ${bucket} verlassen.`,
    underWay: (count) => `${entries(count)} ${count === 1 ? 'wird' : 'werden'} verschoben …`,
    renamed: (count) => `${capital(entries(count))} umbenannt.`,
    moved: (count, place) => `${capital(entries(count))} nach ${place} verschoben.`,
    copied: (count, place) => `${capital(entries(count))} nach ${place} kopiert.`,
    movedBack: (count, place) => `${capital(entries(count))} nach ${place} zurückverschoben.`,
    bucket: 'Bucket',
    chosen: 'Gewählter Ordner',
    foldersIn: (place) => `Ordner in ${place}`,
    noFoldersYet: (count) =>
      count === 1
        ? 'Kein Ordner beim ersten Eintrag.'
        : `Keine Ordner unter den ersten ${number(count)} Einträgen.`,
    noFolders: 'Hier sind keine Ordner.',
    moreFolders: 'Weitere Ordner',
  },
  newFolder: {
    title: 'Neuer Ordner',
    name: 'Name des Ordners',
    hint: 'Der Ordner wird mit seiner ersten Datei gespeichert.',
    open: 'Ordner öffnen',
  },
  sharing: {
    title: (name) => `${named(name)} teilen`,
    active: 'Aktive Links',
    once: 'Der Link ist fertig. Er wird nur einmal angezeigt: Kopieren Sie ihn jetzt.',
    opening:
      'Wer die ganze Adresse samt dem Teil nach # hat, kann die jetzige Version der Datei lesen. ' +
      'Eine neue Version braucht einen anderen Link.',
    unopened: 'Nur wer eine Identität für die Datei hat, kann sie entschlüsseln.',
    whoever: 'Wer den Link hat, kann die Datei ohne Anmeldung lesen.',
    password: 'Passwort (freiwillig)',
    passwordHint: 'Senden Sie es auf einem anderen Weg als den Link.',
    maxDownloads: 'Anzahl der Downloads (freiwillig)',
    maxDownloadsHint: 'Danach endet der Link; jeder Download beginnt langsamer.',
    needsPassword: 'mit Passwort',
    downloads: (part) => `${part} Downloads`,
    create: 'Link erstellen',
    creating: 'Link wird erstellt …',
    made: (when, expiry) => `Erstellt ${when}, ${expiry}`,
    madeWithKey: (when, key, expiry) => `Erstellt ${when} mit dem Schlüssel ${key}, ${expiry}`,
    madeByYou: (when, expiry) => `Erstellt ${when} von Ihnen, ${expiry}`,
    madeBy: (when, maker, expiry) => `Erstellt ${when} von ${maker}, ${expiry}`,
    revokeOne: (when) => `Den ${when} erstellten Link widerrufen`,
    revoke: 'Widerrufen',
    revoking: 'Wird widerrufen …',
  },
  dropBoxDialog: {
    title: 'Briefkasten erstellen',
    purpose:
      'Wer die Adresse hat, kann ohne Anmeldung Dateien an diesen Ordner senden. Die gespeicherten ' +
      'Dateien sind dabei nicht zu sehen.',
    inbox: 'eingang',
    keyOf: (folder) => `Briefkasten ${folder}`,
    ready: (key) =>
      'Die Adresse wird nur einmal angezeigt: Kopieren Sie sie jetzt. Sie gilt, bis sie abläuft oder ' +
      `bis Sie den Schlüssel ${named(key)} in den Einstellungen widerrufen.`,
    folder: 'Ordner',
    key: 'Name des Schlüssels',
    keyHint: 'Um den Schlüssel wiederzufinden, wenn Sie ihn widerrufen wollen.',
    message: 'Nachricht an die Absender (freiwillig)',
    files: 'Anzahl der Dateien (freiwillig)',
    megabytes: 'Größe jeder Datei in MB (freiwillig)',
    create: 'Adresse erstellen',
    creating: 'Adresse wird erstellt …',
    sealsNames:
      'In einen Bucket, der Namen verschlüsselt, können nur Mitglieder hochladen. Erstellen Sie den ' +
      'Briefkasten in einem anderen Bucket.',
  },
  folderLink: {
    title: 'Diesen Ordner teilen',
    purpose:
      'Wer die Adresse hat, sieht die Dateien dieses Ordners, auch spätere, und kann sie ohne ' +
      'Anmeldung herunterladen, aber nichts ändern.',
    sealedPurpose:
      'Wer die Adresse hat, sieht die Namen in diesem Ordner und kann die jetzigen Dateien ohne ' +
      'Anmeldung herunterladen, aber nichts ändern.',
    keyOf: (folder) => `Link zu ${folder}`,
    needsFront:
      'Dateien dieses Buckets werden vor dem Senden verschlüsselt. Nur die Seite einer Front öffnet ' +
      'oder erstellt solche Links: Verwenden Sie den Befehl efs, oder bitten Sie den Eigentümer, eine ' +
      'Front hinzuzufügen.',
    opens: (count) =>
      `Die Adresse öffnet ${files(count)}, aber keine, die von jetzt an hinzukommt oder ersetzt wird: ` +
      'Führen Sie dann efs link refresh aus, oder erstellen Sie eine andere Adresse.',
    unreadable: (count) =>
      `Sie können ${files(count)} nicht entschlüsseln, daher öffnet auch die Adresse sie nicht.`,
    afterSharing: 'Nach dem Teilen hinzugefügt oder ersetzt: Dieser Link öffnet die Datei nicht',
  },
  dropBox: {
    needsFront:
      'Dateien dieses Buckets werden vor dem Senden verschlüsselt. Diese Seite kann das nicht, weil ' +
      'der Dienst keine Front hat: Verwenden Sie den Befehl efs, oder bitten Sie den Eigentümer, eine ' +
      'Front hinzuzufügen.',
    closed:
      'Dieser Briefkasten ist geschlossen: Er ist abgelaufen oder wurde widerrufen. Bitten Sie den ' +
      'Absender der Adresse um einen anderen.',
    message: 'Nachricht des Absenders der Adresse',
    title: 'Dateien an diesen Briefkasten senden',
    toFolder: (folder, bucket) =>
      `Die Dateien gehen an den Ordner ${named(folder)} von ${named(bucket)}. Diese Seite zeigt ` +
      'keine gespeicherten Dateien.',
    toBucket: (bucket) =>
      `Die Dateien gehen an ${named(bucket)}. Diese Seite zeigt keine gespeicherten Dateien.`,
    checking: 'Der Briefkasten wird geprüft …',
    readable:
      'Dateien werden verschlüsselt gespeichert, aber wer den Dienst betreibt, könnte sie lesen.',
    sealed:
      'Dateien werden auf diesem Gerät verschlüsselt, bevor sie gesendet werden; nur ihre Empfänger ' +
      'können sie entschlüsseln.',
    dropHere: 'Dateien oder Ordner hier ablegen oder auswählen.',
    changedToReadable:
      'Dateien würden nicht mehr auf diesem Gerät verschlüsselt: Wer den Dienst betreibt, könnte sie ' +
      'lesen.',
    changedToSealed:
      'Ihre Dateien würden jetzt auf diesem Gerät verschlüsselt, für Empfänger, die die Adresse nicht ' +
      'nennt.',
    changed:
      'Die Empfänger haben sich geändert, seit diese Adresse erstellt wurde: Andere Personen könnten ' +
      'Ihre Dateien lesen.',
    nothingSent:
      'Nichts wird gesendet, bis Sie zustimmen. Fragen Sie zuerst, wer Ihnen die Adresse geschickt hat.',
    compare: (command) =>
      `Der Eigentümer kann diesen Digest mit dem vergleichen, den ${command} ausgibt:`,
    sendReadable: 'Ohne Verschlüsselung senden',
    accept: 'Empfänger akzeptieren',
    sent: (count) => `${capital(files(count))} gesendet`,
    more: 'Sie können diese Seite schließen oder weitere Dateien senden.',
  },
  file: {
    filesOfFolder: 'Dateien des Ordners',
    previous: 'Vorherige',
    next: 'Nächste',
    links: 'Links',
    wasDeleted: (size, when, expiry) =>
      `Diese Datei, ${size}, wurde ${when} gelöscht. Ihre letzte Version ${expiry}.`,
    restore: 'Wiederherstellen',
    restoring: 'Wird wiederhergestellt …',
    deleted: 'Gelöschte Dateien',
    download: 'Herunterladen',
    preparing: 'Wird vorbereitet …',
    publicAddress: 'Öffentliche Adresse',
    publicUntil: 'Alle können die Datei unter dieser Adresse lesen, bis der Bucket privat wird.',
    size: 'Größe',
    sizeInBytes: (size, count) => `${size} (${number(count)} Byte)`,
    kind: 'Art',
    changed: 'Geändert',
    firstStored: 'Zuerst gespeichert',
    version: 'Version',
    tags: 'Tags',
    noTags: 'keine',
    ofChunks: (digest) => `der Teile: ${digest}`,
    preview: 'Vorschau',
    noPreview: (size) =>
      `Keine Vorschau für diese Datei, ${size}. Laden Sie sie herunter, um sie zu öffnen.`,
    openPdf: 'PDF in eigenem Tab öffnen',
    picture: 'ein Bild',
    table: 'Tabelle',
    firstRows: (count) =>
      `${count === 1 ? 'Die erste Zeile' : `Die ersten ${number(count)} Zeilen`}. ` +
      'Alle enthält die heruntergeladene Datei.',
  },
  editing: {
    open: 'Typ, Tags und Header bearbeiten',
    title: 'Bearbeiten',
    type: 'Typ',
    typeHint: 'Zum Beispiel image/jpeg. Browser behandeln die Datei entsprechend.',
    tags: 'Tags',
    tagsHint: 'Durch Kommas getrennt.',
    cacheHint: 'Leer lassen, um alle Header zu behalten; ein Wert ersetzt alle.',
    save: 'Speichern',
    saving: 'Wird gespeichert …',
  },
  leftOut: {
    later: (count) =>
      `${lacking(count)}, die der Link nicht öffnet: nach dem Teilen hinzugefügt oder ersetzt.`,
    unsafe: (count) => `${lacking(count)} mit unsicherem Namen.`,
  },
  versions: {
    title: 'Frühere Versionen',
    one: (version, size, when) => `Version ${version}, ${size}, gespeichert ${when}`,
    fileName: (version) => `(Version ${version})`,
    download: 'Herunterladen',
    downloading: 'Wird heruntergeladen …',
    downloadOne: (version) => `Version ${version} herunterladen`,
    restore: 'Wiederherstellen',
    restoring: 'Wird wiederhergestellt …',
    restoreOne: (version) => `Version ${version} wiederherstellen`,
    restored: 'Die frühere Version ist wiederhergestellt, die ersetzte bleibt erhalten.',
  },
  deleted: {
    showFiles: 'Dateien anzeigen',
    showMore: 'Mehr anzeigen',
    none: 'Keine gelöschte Datei lässt sich wiederherstellen.',
    noneKept:
      'Dieser Bucket bewahrt keine gelöschten Dateien auf. Ein Eigentümer kann das in den ' +
      'Einstellungen ändern.',
    one: (size, when, expiry) => `${size}, gelöscht ${when}, ${expiry}`,
    restore: 'Wiederherstellen',
    restoring: 'Wird wiederhergestellt …',
    restoreOne: (path) => `${path} wiederherstellen`,
    restored: (name) => `${named(name)} ist wiederhergestellt.`,
    erase: 'Endgültig löschen',
    erasing: 'Wird endgültig gelöscht …',
    eraseOne: (path) => `${path} endgültig löschen`,
    eraseTitle: (name) => `${named(name)} endgültig löschen?`,
    heldStay: (count) =>
      'Aufbewahrung oder eine rechtliche Sperre schützt ' +
      `${counted(count, 'Version', 'Versionen')} der Datei.`,
    eraseQuestion: 'Alle Versionen werden sofort und endgültig gelöscht.',
  },
  activity: {
    oneNode:
      'Diese Liste kommt von einem einzelnen Knoten des Netzwerks und ist hier nicht bewiesen. Dieser ' +
      'Befehl prüft, dass kein Eintrag geändert oder erfunden wurde:',
    forMembers:
      'Den Verlauf eines Buckets sehen nur Mitglieder, die sich mit einer Identität anmelden.',
    ofFile: (name) => `Nur Änderungen an ${named(name)}`,
    ofBucket: 'Ganzen Bucket zeigen',
    group: 'Zeigen',
    groups: {
      all: 'Alles',
      files: 'Dateien',
      links: 'Links',
      keys: 'Schlüssel',
      members: 'Mitglieder',
      settings: 'Einstellungen',
    },
    path: 'Pfad enthält',
    none: 'Noch keine Änderungen.',
    noneFound: 'Keine solchen Änderungen.',
    all: (count) => capital(counted(count, 'Änderung', 'Änderungen')),
    part: (found, read) =>
      `${capital(counted(found, 'Änderung', 'Änderungen'))} gezeigt, ${number(read)} gelesen; es gibt ältere`,
    when: (ago, time, entry) => `${ago} · ${time} · Eintrag ${number(entry)}`,
    you: 'Ihnen',
    service: 'diesem Dienst',
    key: (name) => `dem Schlüssel ${name}`,
    kinds: {
      'file.stored': (who, path, version) =>
        `${path} wurde von ${who} als Version ${version} gespeichert.`,
      'file.moved': (who, former, path) => `${former} wurde von ${who} nach ${path} verschoben.`,
      'file.changed': (who, path) =>
        `Typ, Tags oder Header von ${path} wurden von ${who} geändert.`,
      'file.restored': (who, path, version) =>
        `Eine frühere Version von ${path} wurde von ${who} als Version ${version} wiederhergestellt.`,
      'file.deleted': (who, path) => `${path} wurde von ${who} gelöscht.`,
      'version.erased': (who, path, version) =>
        `Version ${version} von ${path} wurde von ${who} endgültig gelöscht.`,
      'hold.changed': (who, path, version) =>
        `Der Schutz der Version ${version} von ${path} wurde von ${who} geändert.`,
      'thumbnail.changed': (who, path) =>
        `Ein Vorschaubild von ${path} wurde von ${who} gespeichert.`,
      'link.created': (who, path) => `Ein Link zu ${path} wurde von ${who} erstellt.`,
      'link.removed': (who, path) => `Ein Link zu ${path} wurde von ${who} entfernt.`,
      'key.created': (who, key) => `Der Schlüssel ${key} wurde von ${who} erstellt.`,
      'key.revoked': (who, key) => `Der Schlüssel ${key} wurde von ${who} widerrufen.`,
      'member.changed': (who, member, role) => `${member} bekam von ${who} die Rolle ${role}.`,
      'bucket.created': (who) => `Der Bucket wurde von ${who} erstellt.`,
      'journal.redacted': (who) => `Einträge wurden von ${who} geschwärzt.`,
      'bucket.changed': (who, names) => `Einstellungen wurden von ${who} geändert: ${names}.`,
    },
    redacted: 'ein geschwärzter Pfad',
    removed: (who, member) => `${member} wurde von ${who} als Mitglied entfernt.`,
    otherKind: (who, kind, path) => `${kind} ${path} von ${who}.`,
    settings: {
      owner: 'Eigentümer',
      isPublic: 'Leserechte',
      isSite: 'Website',
      isListed: 'wer Dateien auflisten darf',
      isEndToEnd: 'Ende-zu-Ende-Verschlüsselung',
      quotaBytes: 'Kontingent',
      quotaFiles: 'Anzahl der Dateien',
      keepVersionsDays: 'frühere Versionen',
      recipients: 'Empfänger',
      retention: 'Aufbewahrung',
      rules: 'Regeln',
      journalDays: 'Tage der Aktivität',
    },
  },
  bucket: {
    forOwners:
      'Mitglieder, Schlüssel und Grenzen sehen Eigentümer, die sich mit einer Identität anmelden.',
    storage: 'Speicher',
    amount: (fileCount, size) => `${capital(files(fileCount))}, ${size}`,
    amountWithVersions: (fileCount, size, versions, versionSize) =>
      `${capital(files(fileCount))}, ${size}, und ` +
      `${counted(versions, 'frühere Version', 'frühere Versionen')}, ${versionSize}`,
    quotaShare: (percent) => `${percent} % des Kontingents belegt`,
    quota: (used, quota) => `${used} von ${quota} belegt, samt Metadaten`,
    noQuota: 'Kein Kontingent.',
    readers: 'Leserechte',
    everybody:
      'Alle, die die Adresse einer Datei kennen, dürfen sie lesen, und Namen lassen sich erraten.',
    isPrivate: 'Privat: nur Mitglieder, Inhaber eines Schlüssels und Personen mit einem Link.',
    isSite: 'Der Bucket wird als Website ausgeliefert: Ordner zeigen ihre index.html.',
    isListed: 'Alle dürfen die Dateien auflisten.',
    makePrivate: 'Privat machen',
    makePublic: 'Für alle lesbar machen',
    nowPrivate: 'Jetzt privat.',
    nowPublic: 'Jetzt öffentlich.',
    versions: 'Frühere Versionen',
    noVersions: 'Nicht aufbewahrt: Ersetzte und gelöschte Dateien sind sofort weg.',
    keepsVersions: (count) =>
      `Ersetzte und gelöschte Dateien lassen sich ${days(count)} lang wiederherstellen.`,
    keepVersions: '30 Tage lang aufbewahren',
    keepNone: 'Keine aufbewahren',
  },
  rules: {
    title: 'Regeln',
    none: 'Keine Regeln: Nichts wird wegen seines Alters gelöscht.',
    scope: {
      whole: 'Ganzer Bucket',
      prefix: (prefix) => `Pfade, die mit ${named(prefix)} beginnen`,
      withTag: (scope, tag) => `${scope}, nur mit dem Tag ${named(tag)}`,
    },
    does: {
      deleteAfterDays: (count) =>
        `Dateien werden ${days(count)} nach ihrer letzten Änderung gelöscht.`,
      keepVersions: (count) =>
        (count === 1
          ? 'Von jeder Datei bleibt nur die jüngste frühere Version'
          : `Von jeder Datei bleiben nur die ${number(count)} jüngsten früheren Versionen`) +
        '; andere werden endgültig gelöscht.',
      eraseVersionsAfterDays: (count) =>
        `Frühere Versionen werden ${days(count)} nach dem Ersetzen oder Löschen endgültig gelöscht.`,
      endUploadsAfterHours: (count) =>
        `Unvollendete Uploads werden ${counted(count, 'Stunde', 'Stunden')} nach ihrem Beginn ` +
        'abgebrochen.',
    },
    disabled: 'Ausgeschaltet.',
    removeOne: (id) => `Regel ${id} entfernen`,
    action: 'Neue Regel',
    actions: {
      deleteAfterDays: 'Alte Dateien löschen',
      keepVersions: 'Frühere Versionen begrenzen',
      eraseVersionsAfterDays: 'Alte frühere Versionen endgültig löschen',
      endUploadsAfterHours: 'Unvollendete Uploads abbrechen',
    },
    counts: {
      deleteAfterDays: 'Tage nach der letzten Änderung',
      keepVersions: 'Frühere Versionen jeder Datei',
      eraseVersionsAfterDays: 'Tage nach dem Ersetzen oder Löschen',
      endUploadsAfterHours: 'Stunden nach dem Beginn',
    },
    prefix: 'Nur Pfade, die so beginnen',
    prefixHint: 'Zum Beispiel logs/; leer für alle.',
    tag: 'Nur mit dem Tag',
    tagHint: 'Leer lassen für alle.',
    add: 'Regel hinzufügen',
    addTitle: 'Diese Regel hinzufügen?',
    soon:
      'Die Regel gilt auch für das, was der Bucket schon hat: Was alt genug ist, wird binnen ' +
      'Minuten gelöscht. Was Aufbewahrung oder eine Sperre schützt, bleibt.',
    restorable: (count) => `Gelöschte Dateien lassen sich ${days(count)} lang wiederherstellen.`,
    allThen: 'Der Bucket hat dann diese Regeln:',
    noneThen: 'Der Bucket hat dann keine Regeln.',
    remove: 'Regel entfernen',
    removeTitle: 'Diese Regel entfernen?',
    removeMeans: 'Sie löscht dann nichts mehr.',
    removed: 'Entfernt.',
  },
  retention: {
    title: 'Aufbewahrung neuer Dateien',
    none: 'Neue Dateien haben keine Frist: Sie lassen sich jederzeit ersetzen und löschen.',
    meaning: 'Eine aufbewahrte Version lässt sich bis zu ihrer Frist weder löschen noch ändern.',
    does: {
      governance: (count) =>
        `Neue Dateien werden ${days(count)} lang aufbewahrt. Ein Eigentümer kann das früher beenden.`,
      compliance: (count) =>
        `Neue Dateien werden ${days(count)} lang aufbewahrt. Niemand kann das früher beenden.`,
    },
    modes: {
      governance: 'Governance: verkürzbar',
      compliance: 'Compliance: nicht verkürzbar',
    },
    mode: 'Modus',
    days: 'Tage ab dem Speichern einer Datei',
    set: 'Aufbewahrung festlegen',
    askTitle: 'Neue Dateien aufbewahren?',
    warnings: {
      governance: 'Dateien, die der Bucket schon hat, bleiben, wie sie sind.',
      compliance:
        'Das lässt sich nicht verkürzen: Auch Eigentümer können eine aufbewahrte Datei nicht vor ihrer ' +
        'Frist löschen, und sie zählt zum Kontingent und zu den Kosten.',
    },
    removeOne: (scope) => `Aufbewahrung entfernen: ${scope}`,
    removed: 'Für spätere Dateien entfernt. Gespeicherte Dateien behalten ihre Frist.',
  },
  protection: {
    title: 'Schutz',
    none: 'Nichts schützt diese Datei davor, ersetzt oder gelöscht zu werden.',
    retained: {
      governance: (time) => `Wird bis ${time} aufbewahrt; ein Eigentümer kann das früher beenden.`,
      compliance: (time) => `Wird bis ${time} aufbewahrt; niemand kann das früher beenden.`,
    },
    held: 'Rechtlich gesperrt, bis ein Eigentümer die Sperre aufhebt.',
    hold: 'Rechtlich sperren',
    release: 'Rechtliche Sperre aufheben',
    retain: 'Aufbewahren …',
    retainTitle: 'Diese Datei aufbewahren',
    retainLabel: 'Datei aufbewahren',
    days: 'Tage ab jetzt',
    end: 'Aufbewahrung beenden',
    endTitle: 'Aufbewahrung beenden?',
    endMeans: 'Danach lässt sich die Datei wieder ersetzen und löschen.',
  },
  endToEnd: {
    title: 'Ende-zu-Ende-Verschlüsselung',
    readable:
      'Dateien werden verschlüsselt gespeichert, aber wer den Dienst betreibt, könnte sie lesen.',
    needsFront:
      'Ende-zu-Ende-Verschlüsselung braucht eine Front oder den Befehl efs: Unter dieser Adresse ' +
      'könnte ein einzelner Knoten des Netzwerks diese Seite austauschen.',
    needsEmpty: 'Nur ein leerer Bucket kann auf Ende-zu-Ende umgestellt werden.',
    sealsNames: 'Auch die Dateinamen verschlüsseln',
    begin: 'Auf Ende-zu-Ende umstellen',
    begun: 'Jetzt Ende-zu-Ende: Nur Mitglieder können die Dateien lesen.',
    mode: (byMembers, areNamesSealed) =>
      'Dateien werden vor dem Senden verschlüsselt. Entschlüsseln kann sie, ' +
      `${byMembers ? 'wer Mitglied ist' : 'wer die Identität eines der Empfänger unten hat'}. ` +
      (areNamesSealed
        ? 'Auch ihre Namen sind verschlüsselt.'
        : 'Namen, Größen und Zeiten sind sichtbar.'),
    end: 'Ausschalten',
    ended: 'Ausgeschaltet.',
    identity: (epoch, when) => `Identität ${epoch}, erstellt ${when}`,
    unpublishedIdentity: (epoch, when) =>
      `Identität ${epoch}, erstellt ${when}; der erste Upload eines Eigentümers veröffentlicht ihren ` +
      'Empfänger',
    rotateHint:
      'Wechseln Sie die Identität, wenn ein Mitglied ausscheidet: Neue Dateien werden dann für eine ' +
      'andere Identität verschlüsselt, die ein früheres Mitglied nicht bekommt. Gespeicherte Dateien ' +
      'ändern sich nicht.',
    rotate: 'Identität wechseln',
    rotating: 'Wird gewechselt …',
    rotated: 'Gewechselt: Neue Dateien werden für die neue Identität verschlüsselt.',
    recipients: 'Zusätzliche Empfänger',
    noRecipients:
      'Keine. Fügen Sie den Empfänger Ihres eigenen age-Schlüssels hinzu, um Dateien retten zu können.',
    recipient: 'Empfänger, age1…',
    recipientAdded: 'Hinzugefügt. Das gilt für neue Dateien.',
    recipientRemoved: 'Entfernt. Das gilt für neue Dateien.',
    removeOne: (recipient) => `${recipient} entfernen`,
  },
  members: {
    title: 'Mitglieder',
    roles: { reader: 'Leser', writer: 'Bearbeiter', owner: 'Eigentümer' },
    roleOf: { reader: 'Leser', writer: 'Bearbeiter', owner: 'Eigentümer' },
    you: (role) => `${role} (Sie)`,
    asking: 'Das Netzwerk wird gebeten, diese Liste zu signieren …',
    rights:
      'Ein Leser sieht die Dateien und lädt sie herunter, ein Bearbeiter lädt auch Dateien hoch und ' +
      'löscht sie, ein Eigentümer darf alles.',
    principal: 'Mitglieds-ID',
    principalHint: 'Neue Mitglieder finden sie unter ihren Buckets.',
    name: 'Name',
    nameHint: 'Optional; Eigentümer sehen ihn neben der ID.',
    role: 'Rolle',
    adding: 'Wird hinzugefügt …',
    removing: 'Wird entfernt …',
    removeOne: (name) => `${name} entfernen`,
    removed: 'Entfernt, samt den Schlüsseln und Links dieses Mitglieds für den Bucket.',
  },
  keys: {
    title: 'Schlüssel',
    none: 'Noch keine Schlüssel. Ein Schlüssel gibt einem Programm oder einer Person Zugang.',
    revoke: 'Widerrufen',
    revoking: 'Wird widerrufen …',
    revokeOne: (name) => `${name} widerrufen`,
    name: 'Name',
    prefix: 'Ordner',
    budget: 'Grenze',
    expires: 'Läuft ab',
    wholeBucket: 'ganzer Bucket',
    never: 'nie',
    noLimit: 'keine',
    writesPerHour: (count) => `${counted(count, 'Schreibvorgang', 'Schreibvorgänge')} pro Stunde`,
    bytesPerHour: (size) => `${size} pro Stunde`,
    newName: 'Name des Schlüssels',
    newPrefix: 'Nur unterhalb dieses Ordners',
    prefixHint: 'Leer lassen für den ganzen Bucket.',
    days: 'Tage bis zum Ablauf',
    daysHint: 'Leer lassen für einen Schlüssel ohne Ablauf.',
    permissions: 'Rechte',
    read: 'lesen',
    write: 'schreiben',
    delete: 'löschen',
    create: 'Schlüssel erstellen',
    creating: 'Schlüssel wird erstellt …',
    once: 'Der Schlüssel wird nur einmal angezeigt: Kopieren Sie ihn jetzt.',
  },
  openUploads: {
    title: 'Laufende Uploads',
    one: (size, whole, expiry) => `${size}${whole === undefined ? '' : ` von ${whole}`}, ${expiry}`,
    cancelOne: (name) => `Upload von ${name} abbrechen`,
    cancelling: 'Wird abgebrochen …',
  },
  uploads: {
    label: 'Uploads',
    more: (count) => counted(count, 'weitere Datei', 'weitere Dateien'),
    storedFile: 'Gespeichert',
    ownFile: 'Ihre Datei',
    sizeAndDate: (size, when) => `${size}, geändert ${when}`,
    decide: 'Entscheiden',
    oneExists: (name) => `${named(name)} existiert bereits. Ersetzen?`,
    someExist: (count) =>
      count === 1
        ? '1 dieser Dateien existiert bereits. Ersetzen?'
        : `${number(count)} dieser Dateien existieren bereits. Ersetzen?`,
    answerForAll: 'Ihre Antwort gilt auch für die Dateien, die noch folgen.',
    replace: 'Ersetzen',
    replaceAll: 'Alle ersetzen',
    keepBoth: 'Beide behalten',
    skip: 'Überspringen',
    skipAll: 'Alle überspringen',
    decideEach: 'Einzeln entscheiden',
    uploaded: 'Hochgeladen',
    pause: 'Anhalten',
    continue: 'Fortsetzen',
    cancelAll: 'Alle abbrechen',
    done: (count) => `${capital(files(count))} hochgeladen.`,
    unreachable: 'Der Dienst ist nicht erreichbar. Der Upload läuft danach von selbst weiter.',
    offline: 'Sie sind offline. Der Upload läuft von selbst weiter, sobald Sie online sind.',
    paused: (count) => `Angehalten: noch ${files(count)}.`,
    failed: (count) => `${capital(files(count))} nicht hochgeladen.`,
    waiting: (count) =>
      `${capital(files(count))} ${count === 1 ? 'wartet' : 'warten'} auf Ihre Antwort.`,
    partWaiting: (done, count) =>
      `${capital(files(done))} hochgeladen, ${number(count)} ${count === 1 ? 'wartet' : 'warten'} ` +
      'auf Ihre Antwort.',
    underWay: (count) =>
      `${capital(files(count))} ${count === 1 ? 'wird' : 'werden'} hochgeladen …`,
    preparing: (amount) => `${amount} · wird vorbereitet`,
    pace: (amount, speed, left) => `${amount} · ${speed} pro Sekunde · noch ${left}`,
    progressOf: (name) => `Fortschritt von ${name}`,
    cancelOne: (name) => `${name} abbrechen`,
    interruptedOne: (name) =>
      `Der Upload von ${name} wurde unterbrochen. Wählen Sie dieselbe Datei aus, um ihn fortzusetzen.`,
    interrupted: (count) =>
      `Der Upload von ${count === 1 ? 'einer Datei' : files(count)} wurde unterbrochen. Wählen Sie ` +
      'dieselben Dateien aus, um ihn fortzusetzen.',
    choose: 'Auswählen und fortsetzen',
    discard: 'Verwerfen',
    filesToContinue: 'Dateien zum Fortsetzen',
    otherFiles: 'Keine dieser Dateien ist die unterbrochene, oder sie wurde inzwischen geändert.',
  },
  link: {
    ended:
      'Dieser Link ist abgelaufen oder wurde entfernt, oder seine Adresse ist unvollständig. Bitten ' +
      'Sie den Absender um einen anderen Link.',
    opensNot:
      'Das Ende dieser Adresse entschlüsselt die Datei nicht: Es wurde abgeschnitten, oder eine ' +
      'andere Datei hat sie inzwischen ersetzt. Bitten Sie den Absender um einen anderen Link.',
    opening: 'Wird geöffnet …',
    open: 'Öffnen',
    password: 'Passwort dieses Links',
    wrongPassword:
      'Das Passwort ist falsch. Nach zehn falschen kann es nur alle sechs Minuten wieder versucht werden.',
    opened: (size) =>
      `${size}. Die Datei wurde vor dem Senden verschlüsselt und wird auf diesem Gerät ` +
      'entschlüsselt: Niemand dazwischen kann sie lesen.',
    downloaded: 'Heruntergeladen',
    download: 'Herunterladen',
    downloading: 'Wird heruntergeladen …',
    tooLargeAndIncomplete:
      'Die Datei ist zu groß für diese Seite, und ihre Adresse ist unvollständig. Bitten Sie den ' +
      'Absender um einen anderen Link.',
    tooLarge:
      'Die Datei ist zu groß für diese Seite. Auf einem Computer lädt der Befehl efs sie herunter:',
    encrypted: (size) =>
      `${size}, verschlüsselt. Das Ende der Adresse nach # fehlt, und ohne es kann diese Seite die ` +
      'Datei nicht entschlüsseln: Bitten Sie den Absender um den ganzen Link. Wenn Sie eine ' +
      'age-Identität für sie haben, laden Sie die verschlüsselte Datei herunter.',
  },
};

// The texts of the page in Spanish. Buttons are infinitives; a sentence that addresses somebody
// says usted. One word for one thing: bucket, clave (key), enlace, carpeta, elemento (a file or a
// folder), versión anterior, propietario, miembro, destinatario, buzón (drop box), cuota, servicio,
// frontal, cycles. Eliminar can be undone; borrar definitivamente (erase) cannot.

import type { Texts } from './en.ts';
import { numberIn } from './formats.ts';

const number = numberIn('es');

function counted(count: number, none: string, singular: string, plural: string): string {
  if (count === 0) return none;
  return `${number(count)} ${count === 1 ? singular : plural}`;
}

const files = (count: number) => counted(count, 'ningún archivo', 'archivo', 'archivos');
const entries = (count: number) => counted(count, 'ningún elemento', 'elemento', 'elementos');
const buckets = (count: number) => counted(count, 'ningún bucket', 'bucket', 'buckets');
const days = (count: number) => counted(count, 'ningún día', 'día', 'días');
const uploads = (count: number) => counted(count, 'ninguna subida', 'subida', 'subidas');
const lacking = (count: number) => `${count === 1 ? 'Falta' : 'Faltan'} en el zip ${files(count)}`;
const named = (name: string) => `«${name}»`;
const chosen = (name: string | undefined, count: number) =>
  name === undefined ? entries(count) : named(name);

/** Begins a sentence. */
const capital = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1);

/** Returns the participle for the count: `archivo eliminado`, `archivos eliminados`. */
const done = (count: number, participle: string) => (count > 1 ? `${participle}s` : participle);

export const texts: Texts = {
  direction: 'ltr',
  page: {
    name: 'Archivos',
    language: 'Idioma',
    needsJavaScript: 'Esta página necesita que JavaScript esté activado.',
    skip: 'Ir al contenido',
    signOut: 'Cerrar sesión',
    oneMoment: 'Un momento…',
    loading: 'Cargando…',
    unloaded:
      'Una parte de esta página no se ha cargado. Es posible que el servicio tenga una versión más reciente.',
    tryAgain: 'Reintentar',
    cancel: 'Cancelar',
    close: 'Cerrar',
    remove: 'Quitar',
    add: 'Añadir',
    added: 'Añadido.',
    saved: 'Guardado.',
    changing: 'Cambiando…',
    undo: 'Deshacer',
    notices: 'Avisos',
    dismiss: 'Cerrar el aviso',
    busy: (soon) => `El servicio está ocupado: nuevo intento ${soon}.`,
  },
  words: {
    bytes: (count) => (count === 1 ? '1 byte' : `${count} bytes`),
    days,
    moreThanTenYears: 'más de diez años',
    justNow: 'ahora mismo',
    onDate: (date) => `el ${date}`,
    noExpiry: 'no caduca',
    expired: 'ha caducado',
    expires: (soon) => `caduca ${soon}`,
    of: (part, whole) => `${part} de ${whole}`,
    kinds: {
      image: 'Imagen',
      video: 'Vídeo',
      audio: 'Audio',
      pdf: 'PDF',
      markdown: 'Markdown',
      web: 'Página web',
      text: 'Texto',
      json: 'JSON',
      archive: 'Archivo comprimido',
      file: 'Archivo',
    },
  },
  failures: {
    byCode: {
      NetworkError:
        'No se puede contactar con el servicio. Compruebe la conexión y vuelva a intentarlo.',
      Timeout: 'El servicio no ha respondido a tiempo. Vuelva a intentarlo dentro de un momento.',
      Unauthorized: 'Hace falta una clave. Vuelva a iniciar sesión.',
      InvalidApiKey:
        'La clave es desconocida, ha caducado o se ha revocado. Pida otra a un propietario del bucket.',
      NoSuchBucket:
        'El bucket no existe, o usted no tiene acceso a él. Un propietario puede añadirle ' +
        'como miembro.',
      NoSuchFile: 'El archivo ya no existe: alguien lo ha movido o eliminado.',
      PreconditionFailed: 'El archivo ha cambiado entretanto. Compruébelo antes de continuar.',
      FileHeld:
        'Una retención o un bloqueo legal protege el archivo: no se puede sustituir, eliminar, mover ' +
        'ni cambiar. Su página muestra hasta cuándo.',
      QuotaExceeded:
        'El bucket está lleno. Elimine archivos, o pida a un propietario una cuota mayor.',
      UploadExpired:
        'La subida ha estado inactiva demasiado tiempo y ha caducado. Vuelva a iniciarla.',
      IntegrityError: 'Los bytes recibidos no coinciden con los guardados. Vuelva a intentarlo.',
      HttpError: 'La respuesta no procede del servicio. Vuelva a intentarlo dentro de un momento.',
      ExpiredIdentity: 'La sesión ha caducado. Vuelva a iniciar sesión.',
      BucketExists: 'Ya existe un bucket con este nombre. Elija otro nombre.',
      BucketNotEmpty: 'El bucket contiene archivos. Elimínelos primero.',
    },
    signInUncompleted:
      'El inicio de sesión no se ha completado. Permita que se abra su ventana y vuelva a intentarlo.',
    keyIncomplete: 'La clave de la dirección está incompleta. Cópiela de nuevo.',
    ownerNotLocal:
      'La dirección de un propietario solo funciona en una réplica local. Inicie sesión de otro modo.',
    noVolume:
      'Este servicio aún no tiene ningún volumen. Un controlador del frontal puede añadir uno con el ' +
      'método addVolume.',
    notOpened:
      'Esta sesión no puede descifrar el archivo cifrado de extremo a extremo. Inicie sesión con la ' +
      'identidad de un miembro, o descargue el archivo y descífrelo con age y una identidad de age.',
    fileThereAgain: 'El archivo vuelve a existir. Ábralo para ver sus versiones.',
    folderExists: (name) => `La carpeta ${named(name)} ya existe. Elija otro nombre.`,
    fileExists: (name) => `El archivo ${named(name)} ya existe. Elija otro nombre.`,
    nameTaken: 'Ya existe un archivo con este nombre.',
    nameEmpty: 'El nombre está vacío. Escriba un nombre.',
    nameWithSlash: 'Un nombre no puede contener «/». Para cambiar de carpeta, utilice «Mover».',
    notMoved: (count, reason) => `${capital(files(count))} sin mover: ${reason}`,
    notDeleted: (name, reason) => `${named(name)} no se ha eliminado: ${reason}`,
    intoItself: {
      move: 'Una carpeta no se puede mover dentro de sí misma.',
      copy: 'Una carpeta no se puede copiar dentro de sí misma.',
    },
    passage: (sealed, from, to) =>
      `El bucket ${sealed} está cifrado de extremo a extremo, así que el servicio no puede mover ni ` +
      `copiar archivos entre ${from} y ${to}: descargue los archivos y súbalos a ${to}.`,
  },
  copying: {
    copy: 'Copiar',
    copied: 'Copiado',
    isCopied: 'Copiado.',
    refused: 'El navegador no deja copiar a esta página: seleccione el texto y cópielo.',
    command: 'Copiar el comando',
    theCommand: (command) => `Copiar el comando: ${command}`,
    ownersCommand: 'Copiar el comando para un propietario',
    principal: 'Copiar el identificador',
    key: 'Copiar la clave',
    recipient: 'Copiar el destinatario',
    address: 'Copiar la dirección',
    publicAddress: 'Copiar la dirección pública',
    link: 'Copiar el enlace',
    addressPicture: 'La dirección como código QR',
    linkPicture: 'El enlace como código QR',
  },
  expiry: {
    label: 'Válido durante',
    day: 'un día',
    week: 'una semana',
    month: '30 días',
    none: 'tiempo ilimitado',
  },
  signIn: {
    title: 'Iniciar sesión',
    purpose: 'Ver, subir y compartir archivos.',
    stay: 'Mantener la sesión iniciada en este dispositivo',
    withKey: 'Con una clave',
    apiKey: 'Clave de API',
    keyHint: 'Empieza por efs_. Los propietarios crean claves en la configuración de un bucket.',
    bucket: 'Bucket',
    byKey: 'Iniciar sesión con la clave',
    underWay: 'Iniciando sesión…',
    withIdentity: 'Con una identidad',
    identity:
      'Una clave que nunca sale de este dispositivo firma por usted. Un propietario tiene que añadirle ' +
      'una vez a un bucket, con un comando que esta página le muestra.',
    byDevice: 'Usar una clave de este dispositivo',
    byInternetIdentity: 'Usar Internet Identity',
  },
  askedKey: {
    title: '¿Usar otra clave en esta pestaña?',
    question: (isOwners, bucket) =>
      'Ya tiene una sesión iniciada. La dirección que ha abierto contiene ' +
      `${isOwners ? 'la clave de un propietario' : 'una clave de API'}` +
      `${bucket && ` para el bucket ${bucket}`}. ` +
      'Es posible que quien le envió la dirección pueda leer lo que usted suba con esta clave. La ' +
      'clave solo se usa en esta pestaña; las demás conservan su propia sesión.',
    stay: 'Conservar la sesión actual',
    use: 'Usar la clave en esta pestaña',
  },
  overview: {
    title: 'Sus buckets',
    loading: 'Cargando sus buckets…',
    amount: (count, size) => `${capital(files(count))}, ${size}`,
    unknown: 'Ábralo para ver sus archivos.',
    readers: (isPublic, isEndToEnd) =>
      (isPublic ? 'Todo el mundo puede leerlo' : 'Privado') +
      (isEndToEnd ? ', cifrado de extremo a extremo' : ''),
    shareOfQuota: (percent, quota) => `${percent} % de ${quota}`,
    none:
      'Aún no tiene ningún bucket. Pida al propietario de uno que le añada con el comando de abajo, o ' +
      'cree uno propio.',
    device: 'Identificador de este dispositivo',
    you: 'Su identificador',
    command:
      'El propietario de un bucket le añade con este identificador, en la configuración o con este ' +
      'comando y el nombre del bucket:',
  },
  addBucket: {
    open: 'Abrir otro bucket',
    create: 'Crear un bucket',
    name: 'Nombre del bucket',
    hint: 'De 1 a 64 letras, cifras y guiones, por ejemplo fotos-vacaciones.',
    keep: (count) => `Conservar durante ${days(count)} los archivos eliminados y sustituidos`,
    isPublic: 'Todo el mundo puede leer sus archivos',
    endToEnd: 'De extremo a extremo: los archivos se cifran antes de enviarse',
    sealsNames: 'Cifrar también los nombres de los archivos',
    noRight: 'No tiene permiso para crear buckets aquí.',
    command: 'Quien gestiona el servicio puede permitirlo con este comando:',
  },
  state: {
    title: 'El servicio',
    service: 'Servicio',
    files: 'Archivos',
    share: (percent) => `Los archivos ocupan el ${percent} % de la memoria`,
    amount: (fileCount, bucketCount, memory) =>
      `${capital(files(fileCount))} en ${buckets(bucketCount)}; ${memory} de memoria, con los ` +
      'metadatos y el programa',
    cost: 'Coste del almacenamiento',
    lessThanCent: 'menos de un centavo',
    cents: (count) => counted(count, 'ningún centavo', 'centavo', 'centavos'),
    dollars: (amount) => `${amount} dólares`,
    perMonth: 'al mes, aproximadamente, por los datos actuales; leer es gratis',
    paid: 'Pagado para',
    yearPaid: 'Un año entero está pagado',
    partPaid: (time) => `Pagado de un año: ${time}`,
    enough:
      'de almacenamiento, sin subidas. Después, nadie puede usar el servicio hasta que alguien pague ' +
      'más.',
    seeService: '«Servicio» muestra el comando.',
    encryption: 'Cifrado',
    version: (version) => `Versión ${version}`,
    keyFetched: 'Se está obteniendo la clave',
    rotating: 'Activo; se están cambiando las claves',
    keyStored: 'Activo, con una clave que guarda el servicio',
    keyDerived: 'Activo, con una clave que deriva la red',
  },
  service: {
    title: 'Servicio',
    again: 'Comprobar de nuevo',
    checking: 'Comprobando…',
    nobody: 'No hay nada que hacer.',
    somebody: (count) =>
      `Hay algo que hacer: ${counted(count, 'ningún punto', 'punto', 'puntos')} en rojo, con el comando.`,
    states: { fine: 'Bien', wait: 'Esperar', unseen: 'No visible', act: 'Actuar' },
  },
  checks: {
    room: {
      title: 'Espacio',
      filesFull:
        'La memoria para archivos está casi llena. Elimine archivos o versiones anteriores: su ' +
        'espacio se vuelve a usar.',
      programFull: 'La memoria del programa está casi llena. Una actualización la vacía.',
      whole: (size) => `límite: ${size}`,
      forFiles: (used, whole) => `${used} de ${whole} para archivos`,
      limit: (used, whole) =>
        `${used} de ${whole} para archivos, el límite de la red para un canister.`,
      engine: (used) => `${used} para archivos, límite desconocido.`,
      reserved: (cycles, limit) =>
        `La red retiene ${cycles} de cycles para el crecimiento, porque a la subred le queda poco ` +
        `espacio. Con ${limit}, el canister ya no puede crecer.`,
      forProgram: (used, whole) => `${used} de ${whole} para el programa mientras se ejecuta.`,
      bucketFull: (bucket, used, quota) =>
        `El bucket ${named(bucket)} está casi lleno: ${used} de ${quota}. Elimine archivos o aumente ` +
        'su cuota.',
      bucketFilesFull: (bucket, count, quota) =>
        `El bucket ${named(bucket)} está casi lleno: ${number(count)} de ${files(quota)}. Elimine ` +
        'archivos o aumente su cuota.',
    },
    cycles: {
      title: 'Cycles',
      unseen: 'Solo los controladores y los propietarios de buckets ven los cycles.',
      free: 'El servicio no necesita cycles: su subred no cobra nada.',
      soon:
        'Añada cycles pronto: sin ellos, el canister se congela, y una actualización necesita 0,31 T ' +
        'por encima de la reserva.',
      now: 'Añada cycles ya: el canister no acepta subidas, y pronto no responderá a nadie.',
      enough: (cycles, time) =>
        `${cycles} de cycles, con los que el servicio paga a la red: suficiente para ${time} de ` +
        'almacenamiento, sin subidas.',
      reserve: (count, cycles) =>
        `El canister se congela por debajo de una reserva para ${days(count)}, ahora ${cycles}. Un ` +
        'umbral de congelación más largo aumenta la reserva.',
      share: (time) => `Suficiente para ${time}`,
      year: 'lleno con un año',
    },
    requests: {
      title: 'Peticiones y rechazos',
      unseen: 'Esta versión del servicio no informa de ningún presupuesto.',
      flood:
        'Se están rechazando muchas peticiones sin autorización. El servicio descarta las siguientes ' +
        'sin coste, así que no hay nada que hacer.',
      notAllowed: (subject) => `${subject}: no permitidas.`,
      budget: (subject, left, burst, perMinute) =>
        `${subject}: quedan ${number(left)} de ${number(burst)}, ${number(perMinute)} más cada minuto.`,
      anonymous: 'Peticiones sin clave',
      links: 'Peticiones por enlaces',
      refusals: 'Peticiones rechazadas',
      moreAnonymous: 'Se rechazan algunas peticiones sin clave. Si son legítimas, permita más.',
      moreLinks: 'Se rechazan algunas peticiones por enlaces. Si son legítimas, permita más.',
    },
    derivations: {
      title: 'Claves de los buckets de extremo a extremo',
      unseen: 'Esta versión del servicio no informa de ningún presupuesto de derivaciones.',
      derivations: 'Derivaciones',
      more:
        'Los nuevos miembros de los buckets de extremo a extremo tienen que esperar sus claves. Si son ' +
        'legítimos, permita más.',
    },
    encryption: {
      title: 'Cifrado',
      continues: 'Esto continúa por sí solo mientras el servicio funciona.',
      late: 'La clave falta desde hace un minuto. El registro del canister indica el motivo.',
    },
    uploads: {
      title: 'Subidas en curso',
      unseen: 'Los propietarios de un bucket que inician sesión con una identidad ven sus subidas.',
      none: 'No hay subidas en los buckets que le pertenecen.',
      ends: 'Una subida se cancela sola un día después de recibirse su última parte.',
      count: uploads,
      held: (count, size, begun, idleCount) =>
        `${uploads(count)} de ${size}, la más antigua iniciada ${begun}` +
        (idleCount === 0 ? '' : `; ${number(idleCount)} sin actividad desde hace más de una hora`),
      idle: (bucket) =>
        `Las subidas sin actividad no dejan espacio en el bucket ${named(bucket)}. Cancélelas en su ` +
        'página, o muestre la lista y cancélelas por su identificador.',
    },
    silent: {
      title: 'Volumen inaccesible',
      sentence: (id: string) => `El volumen ${id} no responde, por lo que aquí faltan sus buckets.`,
    },
    front: {
      title: 'Frontal',
      present: 'Esta página procede del frontal, que certifica todas sus respuestas.',
      absent:
        'El canister no tiene frontal, así que esta página no abre archivos de buckets de extremo a extremo.',
    },
  },
  tabs: {
    files: 'Archivos',
    deleted: 'Eliminados',
    activity: 'Actividad',
    bucket: 'Configuración',
  },
  files: {
    folders: 'Carpetas',
    buckets: 'Buckets',
    newFolder: 'Nueva carpeta',
    pictures: 'Mostrar imágenes',
    noPictures: 'Ocultar imágenes',
    more: 'Más acciones',
    receive: 'Buzón',
    shareFolder: 'Compartir carpeta',
    upload: 'Subir archivos',
    uploadFolder: 'Subir una carpeta',
    drop: (place) => `Soltar para subir a ${place}`,
    pasted: (time) => `pegado ${time}`,
    filter: 'Filtrar por nombre, o buscar por nombre o #etiqueta',
    search: 'Buscar',
    searchBucket: 'Buscar en el bucket',
    clearSearch: 'Borrar la búsqueda',
    choose: 'Elegir archivos',
    searchFolder: 'Buscar en esta carpeta',
    empty: 'Aquí aún no hay nada.',
    emptyForWriters: 'Aquí aún no hay nada. Suelte archivos o carpetas aquí, o elíjalos.',
    notFound: 'No se ha encontrado nada.',
    searching: (read, found) =>
      `Buscando: ${files(read)} ${done(read, 'leído')}, ${number(found)} ${done(found, 'encontrado')}…`,
    part: (count) => `${capital(entries(count))} por ahora`,
    sortedPart: (count) => `${capital(entries(count))} por ahora, ordenados entre sí`,
    found: (count, among) =>
      `${capital(files(count))} ${done(count, 'encontrado')} entre ${files(among)}`,
    count: (count) => capital(files(count)),
    countWithFolders: (folderCount, fileCount) =>
      `${capital(counted(folderCount, 'ninguna carpeta', 'carpeta', 'carpetas'))}, ${files(fileCount)}`,
  },
  grid: {
    isProtected: 'Protegido por una retención o un bloqueo legal',
    label: 'Archivos',
    selectAll: 'Seleccionar todo',
    name: 'Nombre',
    size: 'Tamaño',
    changed: 'Modificado',
    folder: 'Carpeta',
    select: (name) => `Seleccionar ${name}`,
    actionsFor: (name) => `Acciones para ${name}`,
    actions: 'Acciones',
    newName: (name) => `Nuevo nombre de ${name}`,
  },
  shortcuts: {
    title: 'Teclado',
    rows: [
      ['↑ ↓', 'moverse por los archivos; con Mayús, seleccionarlos'],
      ['Espacio', 'seleccionar'],
      ['Intro', 'abrir'],
      ['Ctrl A', 'seleccionar todo'],
      ['F2', 'cambiar el nombre del archivo seleccionado'],
      ['Supr', 'eliminar los archivos seleccionados'],
      ['Esc', 'anular la selección'],
      ['/', 'ir al filtro'],
      ['?', 'esta ayuda'],
    ],
  },
  selection: {
    label: 'Archivos seleccionados',
    count: (count) => `${number(count)} ${done(count, 'seleccionado')}`,
    clear: 'Anular selección',
    download: 'Descargar',
    preparing: 'Preparando…',
    stop: 'Detener',
    share: 'Compartir',
    rename: 'Cambiar nombre',
    move: 'Mover',
    copy: 'Copiar',
    delete: 'Eliminar',
    zipped: (count, name) =>
      `${capital(entries(count))} ${done(count, 'descargado')} como ${name}.`,
  },
  deletion: {
    title: (name, count) => `¿Eliminar ${chosen(name, count)}?`,
    delete: 'Eliminar',
    underWay: 'Eliminando…',
    amount: (count, size) => ` (${files(count)}, ${size})`,
    question: (name, count, amount, bucket) =>
      `${capital(chosen(name, count))}${amount} se ${count > 1 ? 'eliminarán' : 'eliminará'} de ${bucket}.`,
    canUndo: 'El bucket conserva las versiones anteriores: puede deshacerlo.',
    isFinal: 'Esto no se puede deshacer.',
    done: (count) => `${capital(files(count))} ${done(count, 'eliminado')}.`,
    undone: (count) => `${capital(files(count))} ${done(count, 'restaurado')}.`,
  },
  moving: {
    moveTitle: (name, count) => `Mover ${chosen(name, count)}`,
    copyTitle: (name, count) => `Copiar ${chosen(name, count)}`,
    moveTo: (name, count, place) => `Mover ${chosen(name, count)} a ${place}`,
    copyTo: (name, count, place) => `Copiar ${chosen(name, count)} a ${place}`,
    soFar: (count) => `${capital(files(count))} por ahora`,
    movingNow: 'Moviendo…',
    copyingNow: 'Copiando…',
    newFolder: 'Nueva carpeta dentro',
    newFolderHint: 'Por ejemplo 2026/verano. Déjelo vacío para usar la carpeta elegida.',
    differs: (bucket) =>
      `La configuración de ${bucket} no es la que se mostraba. Compruébela y vuelva a intentarlo.`,
    becomesPublic: (bucket) =>
      `El bucket ${bucket} es público: todo el mundo puede leer los archivos que hay en él.`,
    linksEnd: (bucket) =>
      `Los enlaces a los archivos dejan de funcionar cuando los archivos salen de ${bucket}.`,
    underWay: (count) => `Moviendo ${entries(count)}…`,
    renamed: (count) => `${capital(entries(count))} con nuevo nombre.`,
    moved: (count, place) => `${capital(entries(count))} ${done(count, 'movido')} a ${place}.`,
    copied: (count, place) => `${capital(entries(count))} ${done(count, 'copiado')} a ${place}.`,
    movedBack: (count, place) =>
      `${capital(entries(count))} ${done(count, 'devuelto')} a ${place}.`,
    bucket: 'Bucket',
    chosen: 'Carpeta elegida',
    foldersIn: (place) => `Carpetas de ${place}`,
    noFoldersYet: (count) =>
      count === 1
        ? 'El primer elemento no es una carpeta.'
        : `Ninguna carpeta entre los primeros ${number(count)} elementos.`,
    noFolders: 'Aquí no hay carpetas.',
    moreFolders: 'Más carpetas',
  },
  newFolder: {
    title: 'Nueva carpeta',
    name: 'Nombre de la carpeta',
    hint: 'La carpeta se guarda con su primer archivo.',
    open: 'Abrir la carpeta',
  },
  sharing: {
    title: (name) => `Compartir ${named(name)}`,
    active: 'Enlaces activos',
    once: 'El enlace está listo. Solo se muestra una vez: cópielo ahora.',
    opening:
      'Quien tenga la dirección entera, con la parte que sigue a #, puede leer la versión actual del ' +
      'archivo. Una versión nueva necesita otro enlace.',
    unopened: 'El archivo sigue cifrado: solo puede descifrarlo quien tenga una identidad para él.',
    whoever: 'Quien tenga el enlace puede leer el archivo sin iniciar sesión.',
    password: 'Contraseña (opcional)',
    passwordHint: 'Envíela por otro medio que el enlace.',
    maxDownloads: 'Número de descargas (opcional)',
    maxDownloadsHint: 'Después, el enlace termina; cada descarga empieza más despacio.',
    needsPassword: 'con contraseña',
    downloads: (part) => `${part} descargas`,
    create: 'Crear un enlace',
    creating: 'Creando un enlace…',
    made: (when, expiry) => `Creado ${when}, ${expiry}`,
    madeWithKey: (when, key, expiry) => `Creado ${when} con la clave ${key}, ${expiry}`,
    madeByYou: (when, expiry) => `Creado ${when} por usted, ${expiry}`,
    madeBy: (when, maker, expiry) => `Creado ${when} por ${maker}, ${expiry}`,
    revokeOne: (when) => `Revocar el enlace creado ${when}`,
    revoke: 'Revocar',
    revoking: 'Revocando…',
  },
  dropBoxDialog: {
    title: 'Crear un buzón',
    purpose:
      'Quien tenga la dirección puede enviar archivos a esta carpeta sin iniciar sesión. No ve los ' +
      'archivos guardados.',
    inbox: 'entrada',
    keyOf: (folder) => `Buzón ${folder}`,
    ready: (key) =>
      'La dirección solo se muestra una vez: cópiela ahora. Funciona hasta que caduque o hasta que ' +
      `usted revoque la clave ${named(key)} en la configuración.`,
    folder: 'Carpeta',
    key: 'Nombre de la clave',
    keyHint: 'Para encontrar la clave cuando quiera revocarla.',
    message: 'Mensaje para quienes envían (opcional)',
    files: 'Número de archivos (opcional)',
    megabytes: 'Tamaño de cada archivo en MB (opcional)',
    create: 'Crear la dirección',
    creating: 'Creando la dirección…',
    sealsNames:
      'A un bucket que cifra los nombres solo pueden subir archivos sus miembros. Cree el buzón en ' +
      'otro bucket.',
  },
  folderLink: {
    title: 'Compartir esta carpeta',
    purpose:
      'Quien tenga la dirección ve y descarga los archivos de esta carpeta, también los posteriores, ' +
      'sin iniciar sesión. No puede cambiar nada.',
    sealedPurpose:
      'Quien tenga la dirección ve los nombres de esta carpeta y descarga sus archivos actuales sin ' +
      'iniciar sesión. No puede cambiar nada.',
    keyOf: (folder) => `Enlace a ${folder}`,
    needsFront:
      'Los archivos de este bucket se cifran antes de enviarse. Solo la página de un frontal abre o ' +
      'crea estos enlaces: use el comando efs, o pida al propietario que añada un frontal.',
    opens: (count) =>
      `La dirección abre ${files(count)}, pero no los que se añadan o sustituyan desde ahora: ` +
      'entonces ejecute efs link refresh, o cree otra dirección.',
    unreadable: (count) =>
      `Usted no puede descifrar ${files(count)}, así que la dirección tampoco los abre.`,
    afterSharing: 'Añadido o sustituido después de compartir: este enlace no lo abre',
  },
  dropBox: {
    needsFront:
      'Los archivos de este bucket se cifran antes de enviarse. Esta página no puede hacerlo, porque ' +
      'el servicio no tiene frontal: use el comando efs, o pida al propietario que añada un frontal.',
    closed:
      'Este buzón está cerrado: ha caducado o ha sido revocado. Pida otro a quien le envió la ' +
      'dirección.',
    message: 'Mensaje de quien envió la dirección',
    title: 'Enviar archivos a este buzón',
    toFolder: (folder, bucket) =>
      `Los archivos van a la carpeta ${named(folder)} de ${named(bucket)}. Esta página no muestra los ` +
      'archivos guardados.',
    toBucket: (bucket) =>
      `Los archivos van a ${named(bucket)}. Esta página no muestra los archivos guardados.`,
    checking: 'Comprobando el buzón…',
    readable: 'Los archivos se guardan cifrados, pero quien gestiona el servicio podría leerlos.',
    sealed:
      'Los archivos se cifran en este dispositivo antes de enviarse; solo sus destinatarios pueden ' +
      'descifrarlos.',
    dropHere: 'Suelte archivos o carpetas aquí, o elíjalos.',
    changedToReadable:
      'Los archivos ya no se cifrarían en este dispositivo: quien gestiona el servicio podría leerlos.',
    changedToSealed:
      'Sus archivos se cifrarían ahora en este dispositivo, para destinatarios que la dirección no ' +
      'nombra.',
    changed:
      'Los destinatarios han cambiado desde que se creó esta dirección: otras personas podrían leer ' +
      'sus archivos.',
    nothingSent:
      'No se envía nada hasta que lo acepte. Pregunte antes a la persona que le envió la dirección.',
    compare: (command) =>
      `El propietario puede comparar este resumen con el que muestra ${command}:`,
    sendReadable: 'Enviar sin cifrado',
    accept: 'Aceptar los destinatarios',
    sent: (count) => `${capital(files(count))} ${done(count, 'enviado')}`,
    more: 'Puede cerrar esta página o enviar más archivos.',
  },
  file: {
    filesOfFolder: 'Archivos de la carpeta',
    previous: 'Anterior',
    next: 'Siguiente',
    links: 'Enlaces',
    wasDeleted: (size, when, expiry) =>
      `Este archivo, ${size}, se eliminó ${when}. Su última versión ${expiry}.`,
    restore: 'Restaurar',
    restoring: 'Restaurando…',
    deleted: 'Archivos eliminados',
    download: 'Descargar',
    preparing: 'Preparando…',
    publicAddress: 'Dirección pública',
    publicUntil:
      'Todo el mundo puede leer el archivo en esta dirección, hasta que el bucket sea privado.',
    size: 'Tamaño',
    sizeInBytes: (size, count) => `${size} (${number(count)} bytes)`,
    kind: 'Tipo',
    changed: 'Modificado',
    firstStored: 'Guardado por primera vez',
    version: 'Versión',
    tags: 'Etiquetas',
    noTags: 'ninguna',
    ofChunks: (digest) => `de las partes: ${digest}`,
    preview: 'Vista previa',
    noPreview: (size) => `Este archivo, ${size}, no tiene vista previa. Descárguelo para abrirlo.`,
    openPdf: 'Abrir el PDF en su propia pestaña',
    picture: 'una imagen',
    table: 'Tabla',
    firstRows: (count) =>
      `${count === 1 ? 'La primera fila' : `Las primeras ${number(count)} filas`}. ` +
      'Descargue el archivo para verlas todas.',
  },
  editing: {
    open: 'Editar tipo, etiquetas y cabeceras',
    title: 'Editar',
    type: 'Tipo',
    typeHint: 'Por ejemplo image/jpeg. Los navegadores tratan el archivo según su tipo.',
    tags: 'Etiquetas',
    tagsHint: 'Separadas por comas.',
    cacheHint: 'Déjelo vacío para conservar todas las cabeceras; un valor las sustituye todas.',
    save: 'Guardar',
    saving: 'Guardando…',
  },
  leftOut: {
    later: (count) =>
      `${lacking(count)} que el enlace no abre, ${done(count, 'guardado')} tras compartir.`,
    unsafe: (count) => `${lacking(count)} de nombre no seguro.`,
  },
  versions: {
    title: 'Versiones anteriores',
    one: (version, size, when) => `Versión ${version}, ${size}, guardada ${when}`,
    fileName: (version) => `(versión ${version})`,
    download: 'Descargar',
    downloading: 'Descargando…',
    downloadOne: (version) => `Descargar la versión ${version}`,
    restore: 'Restaurar',
    restoring: 'Restaurando…',
    restoreOne: (version) => `Restaurar la versión ${version}`,
    restored:
      'La versión anterior está restaurada. La sustituida se conserva como versión anterior.',
  },
  deleted: {
    showFiles: 'Mostrar archivos',
    showMore: 'Mostrar más',
    none: 'No hay archivos eliminados que se puedan restaurar.',
    noneKept:
      'Este bucket no conserva los archivos eliminados. Un propietario puede cambiarlo en la ' +
      'configuración.',
    one: (size, when, expiry) => `${size}, eliminado ${when}, ${expiry}`,
    restore: 'Restaurar',
    restoring: 'Restaurando…',
    restoreOne: (path) => `Restaurar ${path}`,
    restored: (name) => `${named(name)} está restaurado.`,
    erase: 'Borrar definitivamente',
    erasing: 'Borrando definitivamente…',
    eraseOne: (path) => `Borrar definitivamente ${path}`,
    eraseTitle: (name) => `¿Borrar definitivamente ${named(name)}?`,
    heldStay: (count) =>
      'Una retención o un bloqueo legal protege ' +
      `${counted(count, 'ninguna versión', 'versión', 'versiones')} del archivo.`,
    eraseQuestion: 'Todas sus versiones se borran en el acto. Esto no se puede deshacer.',
  },
  activity: {
    oneNode:
      'Esta lista viene de un solo nodo de la red, y aquí nada la demuestra. Este comando comprueba que ' +
      'ninguna entrada se haya alterado o inventado:',
    forMembers:
      'Solo los miembros que inician sesión con una identidad ven la actividad de un bucket.',
    ofFile: (name) => `Solo cambios de ${named(name)}`,
    ofBucket: 'Mostrar todo el bucket',
    group: 'Mostrar',
    groups: {
      all: 'Todo',
      files: 'Archivos',
      links: 'Enlaces',
      keys: 'Claves',
      members: 'Miembros',
      settings: 'Configuración',
    },
    path: 'La ruta contiene',
    none: 'Aún no hay cambios.',
    noneFound: 'No hay cambios así.',
    all: (count) => capital(counted(count, 'ningún cambio', 'cambio', 'cambios')),
    part: (found, read) =>
      `${capital(counted(found, 'ningún cambio', 'cambio', 'cambios'))} a la vista, ` +
      `${number(read)} leídos; los hay más antiguos`,
    when: (ago, time, entry) => `${ago} · ${time} · entrada ${number(entry)}`,
    you: 'Usted',
    service: 'Este servicio',
    key: (name) => `La clave ${name}`,
    kinds: {
      'file.stored': (who, path, version) => `${who} guardó la versión ${version} de ${path}.`,
      'file.moved': (who, former, path) => `${who} movió ${former} a ${path}.`,
      'file.changed': (who, path) =>
        `${who} cambió el tipo, las etiquetas o las cabeceras de ${path}.`,
      'file.restored': (who, path, version) =>
        `${who} restauró una versión anterior de ${path} como versión ${version}.`,
      'file.deleted': (who, path) => `${who} eliminó ${path}.`,
      'version.erased': (who, path, version) =>
        `${who} borró definitivamente la versión ${version} de ${path}.`,
      'hold.changed': (who, path, version) =>
        `${who} cambió la protección de la versión ${version} de ${path}.`,
      'thumbnail.changed': (who, path) => `${who} guardó una miniatura de ${path}.`,
      'link.created': (who, path) => `${who} creó un enlace a ${path}.`,
      'link.removed': (who, path) => `${who} quitó un enlace a ${path}.`,
      'key.created': (who, key) => `${who} creó la clave ${key}.`,
      'key.revoked': (who, key) => `${who} revocó la clave ${key}.`,
      'member.changed': (who, member, role) => `${who} dio a ${member} el rol ${role}.`,
      'bucket.created': (who) => `${who} creó el bucket.`,
      'journal.redacted': (who) => `${who} ocultó entradas.`,
      'bucket.changed': (who, names) => `${who} cambió la configuración: ${names}.`,
    },
    redacted: 'una ruta oculta',
    removed: (who, member) => `${who} quitó a ${member} de los miembros.`,
    otherKind: (who, kind, path) => `${who}: ${kind} ${path}.`,
    settings: {
      owner: 'propietario',
      isPublic: 'quién puede leer',
      isSite: 'sitio web',
      isListed: 'quién puede listar los archivos',
      isEndToEnd: 'cifrado de extremo a extremo',
      quotaBytes: 'cuota',
      quotaFiles: 'número de archivos',
      keepVersionsDays: 'versiones anteriores',
      recipients: 'destinatarios',
      retention: 'retención',
      rules: 'reglas',
      journalDays: 'días de actividad',
    },
  },
  bucket: {
    forOwners:
      'Los propietarios que inician sesión con una identidad ven los miembros, las claves y los límites.',
    storage: 'Almacenamiento',
    amount: (fileCount, size) => `${capital(files(fileCount))}, ${size}`,
    amountWithVersions: (fileCount, size, versions, versionSize) =>
      `${capital(files(fileCount))}, ${size}, y ` +
      counted(versions, 'ninguna versión anterior', 'versión anterior', 'versiones anteriores') +
      `, ${versionSize}`,
    quotaShare: (percent) => `${percent} % de la cuota en uso`,
    quota: (used, quota) => `${used} de ${quota} en uso, con los metadatos`,
    noQuota: 'Sin cuota.',
    readers: 'Quién puede leer',
    everybody:
      'Quien conozca la dirección de un archivo puede leerlo, y los nombres se pueden adivinar.',
    isPrivate: 'Privado: solo miembros, titulares de una clave y personas con un enlace.',
    isSite: 'El bucket se publica como sitio web: las carpetas muestran su index.html.',
    isListed: 'Todos pueden listar los archivos.',
    makePrivate: 'Hacerlo privado',
    makePublic: 'Permitir que todos lo lean',
    nowPrivate: 'Ahora es privado.',
    nowPublic: 'Ahora es público.',
    versions: 'Versiones anteriores',
    noVersions: 'No se conservan: los archivos sustituidos y eliminados desaparecen en el acto.',
    keepsVersions: (count) =>
      `Los archivos sustituidos y eliminados se pueden restaurar durante ${days(count)}.`,
    keepVersions: 'Conservarlas 30 días',
    keepNone: 'No conservarlas',
  },
  rules: {
    title: 'Reglas',
    none: 'Sin reglas: nada se elimina por su antigüedad.',
    scope: {
      whole: 'Todo el bucket',
      prefix: (prefix) => `Rutas que empiezan por ${named(prefix)}`,
      withTag: (scope, tag) => `${scope}, solo con la etiqueta ${named(tag)}`,
    },
    does: {
      deleteAfterDays: (count) =>
        `Los archivos se eliminan ${days(count)} después de su último cambio.`,
      keepVersions: (count) =>
        (count === 1
          ? 'De cada archivo solo queda la versión anterior más reciente'
          : `De cada archivo solo quedan las ${number(count)} versiones anteriores más recientes`) +
        '; el resto se borra definitivamente.',
      eraseVersionsAfterDays: (count) =>
        `Las versiones anteriores se borran definitivamente ${days(count)} después de sustituirse o ` +
        'eliminarse.',
      endUploadsAfterHours: (count) =>
        `Las subidas sin terminar se cancelan ${counted(count, 'ninguna hora', 'hora', 'horas')} ` +
        'después de empezar.',
    },
    disabled: 'Desactivada.',
    removeOne: (id) => `Quitar la regla ${id}`,
    action: 'Regla nueva',
    actions: {
      deleteAfterDays: 'Eliminar archivos antiguos',
      keepVersions: 'Limitar las versiones anteriores',
      eraseVersionsAfterDays: 'Borrar definitivamente versiones antiguas',
      endUploadsAfterHours: 'Cancelar subidas sin terminar',
    },
    counts: {
      deleteAfterDays: 'Días después del último cambio',
      keepVersions: 'Versiones anteriores de cada archivo',
      eraseVersionsAfterDays: 'Días después de la sustitución o eliminación',
      endUploadsAfterHours: 'Horas después de empezar',
    },
    prefix: 'Solo rutas que empiezan por',
    prefixHint: 'Por ejemplo logs/; vacío para todas.',
    tag: 'Solo con la etiqueta',
    tagHint: 'Déjelo vacío para todos.',
    add: 'Añadir la regla',
    addTitle: '¿Añadir esta regla?',
    soon:
      'La regla también vale para lo que el bucket ya tiene: lo bastante antiguo desaparece en ' +
      'minutos. Lo que protege una retención o un bloqueo se queda.',
    restorable: (count) => `Los archivos eliminados se pueden restaurar durante ${days(count)}.`,
    allThen: 'El bucket tendrá entonces estas reglas:',
    noneThen: 'El bucket no tendrá entonces ninguna regla.',
    remove: 'Quitar la regla',
    removeTitle: '¿Quitar esta regla?',
    removeMeans: 'Ya no elimina nada más.',
    removed: 'Quitada.',
  },
  retention: {
    title: 'Retención de archivos nuevos',
    none: 'Los archivos nuevos no se retienen: se pueden sustituir y eliminar en todo momento.',
    meaning: 'Una versión retenida no se puede eliminar ni cambiar hasta su fecha.',
    does: {
      governance: (count) =>
        `Los archivos nuevos se retienen ${days(count)}. Un propietario puede terminarlo antes.`,
      compliance: (count) =>
        `Los archivos nuevos se retienen ${days(count)}. Nadie puede terminarlo antes.`,
    },
    modes: {
      governance: 'Gobernanza: se puede terminar',
      compliance: 'Cumplimiento: no se puede',
    },
    mode: 'Modo',
    days: 'Días desde que se guarda un archivo',
    set: 'Fijar la retención',
    askTitle: '¿Retener los archivos nuevos?',
    warnings: {
      governance: 'Los archivos que el bucket ya tiene quedan como están.',
      compliance:
        'Esto no se puede acortar: ni siquiera un propietario puede eliminar un archivo retenido antes ' +
        'de su fecha, y el archivo cuenta para la cuota y el coste.',
    },
    removeOne: (scope) => `Quitar la retención: ${scope}`,
    removed: 'Quitada para archivos posteriores. Los guardados mantienen su retención.',
  },
  protection: {
    title: 'Protección',
    none: 'Nada impide que este archivo se sustituya o se elimine.',
    retained: {
      governance: (time) => `Retenido hasta el ${time}; un propietario puede terminarlo antes.`,
      compliance: (time) => `Retenido hasta el ${time}; nadie puede terminarlo antes.`,
    },
    held: 'Con bloqueo legal hasta que un propietario lo quite.',
    hold: 'Poner un bloqueo legal',
    release: 'Quitar el bloqueo legal',
    retain: 'Retener…',
    retainTitle: 'Retener este archivo',
    retainLabel: 'Retener el archivo',
    days: 'Días a partir de ahora',
    end: 'Terminar la retención',
    endTitle: '¿Terminar la retención?',
    endMeans: 'Después, el archivo se puede sustituir y eliminar otra vez.',
  },
  endToEnd: {
    title: 'Cifrado de extremo a extremo',
    readable: 'Los archivos se guardan cifrados, pero quien gestiona el servicio podría leerlos.',
    needsFront:
      'El cifrado de extremo a extremo necesita un frontal o el comando efs: en esta dirección, un ' +
      'solo nodo de la red podría reemplazar esta página.',
    needsEmpty: 'Solo un bucket vacío puede pasar a cifrarse de extremo a extremo.',
    sealsNames: 'Cifrar también los nombres de los archivos',
    begin: 'Cifrar de extremo a extremo',
    begun: 'Ahora de extremo a extremo: solo los miembros pueden leer sus archivos.',
    mode: (byMembers, areNamesSealed) =>
      'Los archivos se cifran antes de enviarse, y puede descifrarlos ' +
      `${byMembers ? 'quien sea miembro' : 'quien tenga la identidad de un destinatario de abajo'}. ` +
      (areNamesSealed
        ? 'Sus nombres también están cifrados.'
        : 'Los nombres, los tamaños y las fechas son visibles.'),
    end: 'Desactivarlo',
    ended: 'Desactivado.',
    identity: (epoch, when) => `Identidad ${epoch}, creada ${when}`,
    unpublishedIdentity: (epoch, when) =>
      `Identidad ${epoch}, creada ${when}; la primera subida de un propietario publica su destinatario`,
    rotateHint:
      'Cambie la identidad cuando un miembro se vaya: los archivos nuevos se cifran entonces para otra ' +
      'identidad, que un antiguo miembro no recibe. Los archivos guardados no cambian.',
    rotate: 'Cambiar la identidad',
    rotating: 'Cambiando…',
    rotated: 'Cambiada: los archivos nuevos se cifran para la nueva identidad.',
    recipients: 'Otros destinatarios',
    noRecipients:
      'Ninguno. Añada el destinatario de su propia clave de age para poder recuperar los archivos.',
    recipient: 'Destinatario, age1…',
    recipientAdded: 'Añadido. Se aplica a los archivos nuevos.',
    recipientRemoved: 'Quitado. Se aplica a los archivos nuevos.',
    removeOne: (recipient) => `Quitar ${recipient}`,
  },
  members: {
    title: 'Miembros',
    roles: { reader: 'Lector', writer: 'Editor', owner: 'Propietario' },
    roleOf: { reader: 'lector', writer: 'editor', owner: 'propietario' },
    you: (role) => `${role} (usted)`,
    asking: 'Pidiendo a la red que firme esta lista…',
    rights:
      'Un lector ve y descarga archivos, un editor además los sube y los elimina, y un propietario ' +
      'puede hacerlo todo.',
    principal: 'Identificador',
    principalHint: 'Los nuevos miembros lo encuentran debajo de sus buckets.',
    name: 'Nombre',
    nameHint: 'Opcional; los propietarios lo ven junto al identificador.',
    role: 'Rol',
    adding: 'Añadiendo…',
    removing: 'Quitando…',
    removeOne: (name) => `Quitar ${name}`,
    removed: 'Quitado, con las claves y los enlaces de este miembro para el bucket.',
  },
  keys: {
    title: 'Claves',
    none: 'Aún no hay claves. Una clave da acceso a un programa o a una persona.',
    revoke: 'Revocar',
    revoking: 'Revocando…',
    revokeOne: (name) => `Revocar ${name}`,
    name: 'Nombre',
    prefix: 'Carpeta',
    budget: 'Límite',
    expires: 'Caduca',
    wholeBucket: 'todo el bucket',
    never: 'nunca',
    noLimit: 'ninguno',
    writesPerHour: (count) =>
      `${counted(count, 'ninguna escritura', 'escritura', 'escrituras')} por hora`,
    bytesPerHour: (size) => `${size} por hora`,
    newName: 'Nombre de la clave',
    newPrefix: 'Solo dentro de esta carpeta',
    prefixHint: 'Déjelo vacío para todo el bucket.',
    days: 'Días hasta que caduque',
    daysHint: 'Déjelo vacío para una clave que no caduca.',
    permissions: 'Permisos',
    read: 'leer',
    write: 'escribir',
    delete: 'eliminar',
    create: 'Crear una clave',
    creating: 'Creando una clave…',
    once: 'La clave solo se muestra una vez: cópiela ahora.',
  },
  openUploads: {
    title: 'Subidas en curso',
    one: (size, whole, expiry) => `${size}${whole === undefined ? '' : ` de ${whole}`}, ${expiry}`,
    cancelOne: (name) => `Cancelar la subida de ${name}`,
    cancelling: 'Cancelando…',
  },
  uploads: {
    label: 'Subidas',
    more: (count) => counted(count, 'ningún archivo más', 'archivo más', 'archivos más'),
    storedFile: 'Guardado',
    ownFile: 'El suyo',
    sizeAndDate: (size, when) => `${size}, modificado ${when}`,
    decide: 'Decidir',
    oneExists: (name) => `${named(name)} ya existe. ¿Sustituirlo?`,
    someExist: (count) =>
      count === 1
        ? '1 de estos archivos ya existe. ¿Sustituirlo?'
        : `${number(count)} de estos archivos ya existen. ¿Sustituirlos?`,
    answerForAll: 'Su respuesta se aplica también a los archivos que siguen.',
    replace: 'Sustituir',
    replaceAll: 'Sustituir todos',
    keepBoth: 'Conservar ambos',
    skip: 'Omitir',
    skipAll: 'Omitir todos',
    decideEach: 'Decidir uno a uno',
    uploaded: 'Subido',
    pause: 'Pausar',
    continue: 'Continuar',
    cancelAll: 'Cancelar todo',
    done: (count) => `${capital(files(count))} ${done(count, 'subido')}.`,
    unreachable:
      'No se puede contactar con el servicio. La subida continúa por sí sola cuando sea posible.',
    offline: 'Está sin conexión. La subida continúa por sí sola cuando vuelva a tenerla.',
    paused: (count) => `En pausa: ${count > 1 ? 'faltan' : 'falta'} ${files(count)}.`,
    failed: (count) => `${capital(files(count))} sin subir.`,
    waiting: (count) => `${capital(files(count))} a la espera de su respuesta.`,
    partWaiting: (uploaded, count) =>
      `${capital(files(uploaded))} ${done(uploaded, 'subido')}, ${number(count)} a la espera de su ` +
      'respuesta.',
    underWay: (count) => `Subiendo ${files(count)}…`,
    preparing: (amount) => `${amount} · preparando`,
    pace: (amount, speed, left) => `${amount} · ${speed} por segundo · tiempo restante: ${left}`,
    progressOf: (name) => `Progreso de ${name}`,
    cancelOne: (name) => `Cancelar ${name}`,
    interruptedOne: (name) =>
      `La subida de ${name} se interrumpió. Elija el mismo archivo para continuar.`,
    interrupted: (count) =>
      `La subida de ${files(count)} se interrumpió. Elija los mismos archivos para continuar.`,
    choose: 'Elegir y continuar',
    discard: 'Descartar',
    filesToContinue: 'Archivos con los que continuar',
    otherFiles: 'Ninguno de estos archivos es el interrumpido, o ha cambiado desde entonces.',
  },
  link: {
    ended:
      'Este enlace ha caducado o se ha quitado, o su dirección está incompleta. Pida otro enlace a ' +
      'quien se lo envió.',
    opensNot:
      'El final de esta dirección no descifra el archivo: se ha cortado, o entretanto otro archivo lo ' +
      'ha sustituido. Pida otro enlace a quien se lo envió.',
    opening: 'Abriendo…',
    open: 'Abrir',
    password: 'Contraseña de este enlace',
    wrongPassword:
      'La contraseña no es correcta. Después de diez fallos, solo se puede volver a probar cada seis minutos.',
    opened: (size) =>
      `${size}. Se cifró antes de enviarse y se descifra en este dispositivo: nadie puede leerlo por ` +
      'el camino.',
    downloaded: 'Descargado',
    download: 'Descargar',
    downloading: 'Descargando…',
    tooLargeAndIncomplete:
      'Es demasiado grande para esta página, y su dirección está incompleta. Pida otro enlace a quien ' +
      'se lo envió.',
    tooLarge: 'Es demasiado grande para esta página. En un ordenador, el comando efs lo descarga:',
    encrypted: (size) =>
      `${size}, cifrado. Falta el final de la dirección, lo que sigue a #, y sin él esta página no ` +
      'puede descifrar el archivo: pida el enlace entero a quien se lo envió. Si tiene una identidad ' +
      'de age para él, descargue el archivo cifrado.',
  },
};

from kith.command_line import main

raise SystemExit(main())

# What `cmake --install` puts where: libraries, headers, the CMake package, the pkg-config file.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/stablegrad)

install(TARGETS stablegrad stablegrad_shared EXPORT stablegrad-targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/stablegrad DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT stablegrad-targets NAMESPACE stablegrad:: DESTINATION ${package_dir})

configure_package_config_file(cmake/stablegrad-config.cmake.in
    ${PROJECT_BINARY_DIR}/stablegrad-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/stablegrad-config-version.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/stablegrad-config.cmake
              ${PROJECT_BINARY_DIR}/stablegrad-config-version.cmake DESTINATION ${package_dir})

# The prefix is found from where the file lies, so an installed tree can be moved.
file(RELATIVE_PATH SG_PC_TO_PREFIX /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
configure_file(cmake/stablegrad.pc.in ${PROJECT_BINARY_DIR}/stablegrad.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/stablegrad.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(TARGET stablegrad-program)
    install(TARGETS stablegrad-program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    install(DIRECTORY problems DESTINATION ${CMAKE_INSTALL_DATADIR}/stablegrad)
    install(FILES ${PROJECT_BINARY_DIR}/cli/stablegrad.man DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
            RENAME stablegrad.1)
    install(FILES ${PROJECT_BINARY_DIR}/cli/stablegrad.completion
            DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME stablegrad)
endif()
